"""`advisor fleet`, as it is typed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.fleet.simulation.report import Progress, SimulationReport
from advisor.fleet.simulation.running import Simulation

from .conftest import Typed


def test_the_example_is_written_once_and_is_valid(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    assert typed("fleet", "init", file).stdout == f"{file}\n"
    before = file.read_bytes()
    again = typed("fleet", "init", file)
    assert again.returncode == 2
    assert again.stderr == f"advisor: {file} is there already: edit it, or move it away\n"
    assert file.read_bytes() == before
    done = typed("fleet", "validate", file)
    assert done.returncode == 0
    assert "Every pair once takes" in done.stdout


def test_a_link_to_another_file_is_not_followed(typed: Typed, tmp_path: Path) -> None:
    other = tmp_path / "kept"
    other.write_text("kept")
    (tmp_path / "fleet.toml").symlink_to(other)
    assert typed("fleet", "init", tmp_path / "fleet.toml").returncode == 2
    assert other.read_text() == "kept"


def test_hosts_without_a_time_in_common_are_said_with_their_hours(
    typed: Typed, tmp_path: Path
) -> None:
    file = tmp_path / "fleet.toml"
    hosts = "".join(
        f'[hosts.{name}]\nbandwidth = "1Gbit"\nquiet-hours = ["{hours}"]\n'
        for name, hours in (("a", "08:00-20:00"), ("b", "20:00-08:00"))
    )
    measure = 'what = "advice"\nbetween = "mesh"\nevery = "1d"\nbudget = "40s"\n'
    file.write_text(f"{hosts}[measure.m]\n{measure}")
    for command in ("validate", "simulate"):
        done = typed("fleet", command, file)
        assert done.returncode == 2
        assert "hosts.a (quiet 08:00-20:00 UTC) and hosts.b (quiet 20:00-08:00 UTC)" in done.stderr


def test_what_would_be_measured_as_json(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    hosts = "".join(f'[hosts.h{n}]\nbandwidth = "1Gbit"\n' for n in range(5))
    measure = 'what = "advice"\nbetween = "mesh"\nevery = "1d"\nbudget = "40s"\n'
    file.write_text(f"{hosts}[measure.m]\n{measure}")
    found = json.loads(typed("fleet", "validate", file, "--json").stdout)
    assert found["pairs"] == {"m": 20}
    host = found["hosts"][0]
    # 8 pairs, 40 s at 1 Gbit/s each and 1 MiB around it; the bound is 864 s at that rate.
    assert host["pairs"] == 8
    assert host["wanted_bytes"] == pytest.approx(8 * (5e9 + 2**20))
    assert host["bound_bytes"] == pytest.approx(108e9)
    # One after the other, each with a minute around it.
    assert found["cover_s"] == pytest.approx(8 * 100)
    assert found["limited_by"] == "hosts.h0"


def test_what_limits_the_time_to_cover_all_pairs(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    hosts = "".join(f'[hosts.h{n}]\nbandwidth = "1Gbit"\n' for n in range(6))
    shared = '[resources.up]\nhosts = ["h0", "h1", "h2"]\nat-once = 1\n'
    measure = 'what = "path"\nbetween = "mesh"\nevery = "1d"\nbudget = "40s"\n'
    file.write_text(f"{hosts}{shared}[measure.m]\n{measure}")
    found = json.loads(typed("fleet", "validate", file, "--json").stdout)
    assert found["limited_by"] == "resources.up"
    assert found["cover_s"] == pytest.approx(18 * 100)


def test_what_is_wrong_is_one_sentence_with_file_and_key(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text("[hosts.a]\nbandwith = '1G'\n[measure]\n")
    done = typed("fleet", "validate", file)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"advisor: {file}: hosts.a.bandwith: there is no such key: did you mean 'bandwidth'?\n"
    )


def test_a_missing_file_is_reported_with_the_command_that_writes_one(
    typed: Typed, tmp_path: Path
) -> None:
    done = typed("fleet", "validate", tmp_path / "none.toml")
    assert done.returncode == 2
    assert "`advisor fleet init` writes an example" in done.stderr


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "fleet.toml"
    hosts = "".join(f'[hosts.h{n}]\nbandwidth = "1Gbit"\n' for n in range(4))
    measure = 'what = "advice"\nbetween = "mesh"\nevery = "1d"\nbudget = "40s"\n'
    file.write_text(f"{hosts}[measure.m]\n{measure}")
    return file


def test_a_simulation_as_text_and_as_json(typed: Typed, small: Path) -> None:
    words = ("fleet", "simulate", small, "--duration", "20d", "--workers", "2", "--seed", "7")
    text = typed(*words)
    assert text.returncode == 0
    assert "100% of the pairs measured after" in text.stdout
    found = json.loads(typed(*words, "--json").stdout)
    assert (found["hosts"], found["pairs"], found["workers"], found["seed"]) == (4, 12, 2, 7)
    assert found["complete"]
    assert f"{found['measurements']:,}, {found['failures']:,}" in text.stdout


@pytest.mark.parametrize("duration", ["1h", "21y", "soon"])
def test_what_cannot_be_simulated(typed: Typed, small: Path, duration: str) -> None:
    done = typed("fleet", "simulate", small, "--duration", duration)
    assert done.returncode == 2
    assert done.stderr.startswith("advisor: ")
    assert done.stderr.count("\n") == 1


def test_an_interrupted_simulation_prints_what_it_has(
    typed: Typed, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(self: Simulation) -> Iterator[Progress]:
        days = original(self)
        for _ in range(5):
            yield next(days)
        raise KeyboardInterrupt

    original = Simulation.run
    monkeypatch.setattr(Simulation, "run", run)
    done = typed("fleet", "simulate", small, "--duration", "30d", "--json")
    assert done.returncode == 130
    assert not json.loads(done.stdout)["complete"]
    assert done.stderr.startswith("advisor: interrupted after ")


def test_several_simulations_and_what_they_have_in_common(typed: Typed, small: Path) -> None:
    words = ("fleet", "simulate", small, "--duration", "20d", "--workers", "2", "--seed", "7")
    found = json.loads(typed(*words, "--runs", "3", "--json").stdout)
    assert found["seeds"] == [7, 8, 9]
    assert found["reports"][0] == json.loads(typed(*words, "--json").stdout)
    text = typed(*words, "--runs", "3").stdout
    assert text.startswith("3 runs, seeds 7 to 9\n")
    [line] = [one for one in text.splitlines() if one.startswith("measurements ")]
    spread = found["figures"]["measurements"]
    assert [f"{spread[part]:,.0f}" for part in ("least", "median", "most")] == line.split()[1:4]


def test_interrupted_simulations_print_those_that_ended(
    typed: Typed, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def report(self: Simulation) -> SimulationReport:
        ended.append(original(self))
        if len(ended) == 3:
            raise KeyboardInterrupt
        return ended[-1]

    ended: list[SimulationReport] = []
    original = Simulation.report
    monkeypatch.setattr(Simulation, "report", report)
    done = typed("fleet", "simulate", small, "--duration", "5d", "--runs", "9", "--json")
    assert done.returncode == 130
    assert json.loads(done.stdout)["seeds"] == [1, 2]
    assert done.stderr == "advisor: interrupted after 2 of 9 runs\n"
