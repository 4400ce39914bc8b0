"""`advisor profile` on stored profiles; measuring is in tests/system."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from advisor.cli.profile.command import profile
from advisor.domain.grid import Axis, Grid
from advisor.domain.records import ProbeRecord, ProfileRecord
from advisor.store.history import Store
from advisor.testing.samples import a_host, a_path
from tests.commands import invoke
from tests.unit.store.conftest import PAIR, make_a_probe

Run = Callable[..., Result]
GRID = Grid(
    subject="tcp",
    axes=(Axis("streams", (1, 2, 4)), Axis("buffer_bytes", (0, 4194304))),
    fixed={"congestion": "cubic"},
)
FACTORS = {"before": 1.0, "after": 1.5}


def records_of(name: str) -> list[ProbeRecord | ProfileRecord]:
    """A finished profile: more streams are faster, and `after` is faster with one stream."""
    kernel = {"before": "6.1", "after": "6.12"}[name]
    path = a_path(source=a_host(kernel=kernel))
    record = ProfileRecord(
        session=f"20260101T0000{len(name)}Z-{name}",
        pair=PAIR,
        recorded_s=1000.0 + len(name),
        name=name,
        path=path,
        grids=[GRID],
        repeats=5,
        request={"destination": "x"},
        about="a remark",
    )
    probes: list[ProbeRecord | ProfileRecord] = [record]
    for setting in GRID.settings:
        for number in range(1, 6):
            factor = FACTORS[name] if setting["streams"] == 1 else 1.0
            rate_bps = 1e9 * factor * int(setting["streams"]) * (1 + number / 200)
            probes.append(
                make_a_probe(
                    rate_bps,
                    setting=setting,
                    session=record.session,
                    recorded_s=1000.0 + len(probes) + len(name) * 100,
                    label=f"round {number}",
                )
            )
    return probes


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = Store(tmp_path / "store")
    store.append_missing([*records_of("before"), *records_of("after")])
    return store


@pytest.fixture
def run(store: Store) -> Run:
    def call(*arguments: str | Path, at: Path = Path(store.argument)) -> Result:
        return invoke(profile, [*map(str, arguments), "--store", str(at)])

    return call


def test_they_are_listed_newest_first(run: Run) -> None:
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["profile", "before", "after"]
    assert all("complete" in line for line in lines[1:3])
    listed = json.loads(run("list", "--json").stdout)
    assert [one["name"] for one in listed if not one["reference"]] == ["before", "after"]


def test_an_empty_history_says_how_to_begin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    done = run("list", at=tmp_path / "other")
    assert (done.exit_code, "complete" in done.stdout) == (0, False)
    assert "advisor profile HOST" in done.stderr


def test_one_is_shown_as_maps_boxes_and_confidence(run: Run) -> None:
    text = run("show", "before").stdout
    assert "a remark" in text
    assert "30 measurements" in text
    row = next(line for line in text.splitlines() if line.startswith("4  "))
    assert row.count("4.06 Gbit/s") == 2
    assert row.count("*") == 1
    assert "all measurements by the number of flows" in text
    assert "a single maximum in the number of flows" in text
    assert "100%" in text
    assert len(json.loads(run("show", "before", "--json").stdout)["probes"]) == 30


def test_grids_in_which_little_varies_are_shown(run: Run, store: Store) -> None:
    grids = [
        Grid(subject="xdd", axes=(), fixed={"threads": 4}),
        Grid(subject="rclone", axes=()),
        Grid(subject="xrdcp", axes=()),
        Grid(subject="globus-url-copy", axes=(Axis("parallelism", (1, 2, 4)),)),
    ]
    record = ProfileRecord(
        session="s", pair=PAIR, recorded_s=2000.0, name="little", grids=grids, repeats=5
    )
    probes = [
        make_a_probe(
            1e9 + len(grid.subject) * 1e6,
            subject=grid.subject,
            setting=setting,
            session="s",
            recorded_s=2001.0 + 10 * at + number,
            label=f"round {number}",
        )
        for at, (grid, setting) in enumerate((g, one) for g in grids for one in g.settings)
        for number in range(5)
        if grid.subject != "xrdcp"
    ]
    store.append_missing([record, *probes])
    done = run("show", "little")
    assert done.exit_code == 0, done.stderr
    assert "xdd\nsetting    throughput\n4 threads  1.00 Gbit/s ±0%\n" in done.stdout
    assert "rclone\nsetting         throughput\nnothing is set  1.01 Gbit/s ±0%\n" in done.stdout
    assert "xrdcp\nsetting         throughput\nnothing is set  -\n" in done.stdout
    assert "\nglobus-url-copy: a single maximum in the number of flows" in done.stdout


def test_two_are_compared(run: Run) -> None:
    text = run("compare", "before", "after").stdout
    assert "source kernel" in text
    assert "2 of 6 common settings changed clearly" in text
    listed = [line for line in text.splitlines() if line.endswith("changed")]
    assert len(listed) == 2
    assert all("1 stream," in line and "+50.0%" in line for line in listed)
    assert len([line for line in run("compare", "before", "after", "--all").stdout.splitlines()
                if line.startswith("TCP: ")]) == 6  # fmt: skip
    result = json.loads(run("compare", "before", "after", "--json").stdout)
    assert len(result["cells"]) == 6


@pytest.mark.parametrize("form", ["sealed", "jsonl", "csv"])
def test_one_is_mailed_to_somebody_who_has_nothing(run: Run, tmp_path: Path, form: str) -> None:
    file = tmp_path / "it"
    assert run("export", "before", "--format", form, "--output", file).exit_code == 0
    other = tmp_path / "other"
    done = run("import", file, at=other)
    if form == "csv":
        # A table holds the measurements, and not the profile.
        assert done.exit_code == 1
        assert "advisor history import" in done.stderr
        return
    assert done.stdout == "before: 31 new records\n"
    assert run("import", file, at=other).stdout == "before: nothing new\n"
    assert run("show", "before", at=other).stdout == run("show", "before").stdout
    # What could start a program was not sent.
    assert run("resume", "before", at=other).exit_code == 2


def test_a_sealed_file_says_what_wrote_it(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.gz"
    run("export", "before", "--output", file)
    seal = json.loads(gzip.decompress(file.read_bytes()).splitlines()[0])
    assert seal["program"].startswith("advisor ")
    assert seal["records"] == 31


def test_a_damaged_file_is_refused_with_a_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "it.gz"
    run("export", "before", "--output", file)
    text = gzip.decompress(file.read_bytes()).replace(b"round 3", b"round 9")
    file.write_bytes(gzip.compress(text))
    done = run("import", file, at=tmp_path / "other")
    assert done.exit_code == 1
    assert "it was damaged or changed on its way" in done.stderr


def test_a_deleted_one_is_gone(run: Run) -> None:
    assert run("delete", "before").exit_code == 2
    assert "before" in run("list").stdout
    assert run("delete", "before", "--yes").stdout == "before is deleted.\n"
    assert "before" not in run("list").stdout
    assert run("show", "before").exit_code == 1


def test_one_is_made_of_the_history(run: Run) -> None:
    done = run("measure", PAIR.destination, "--from-history", "--name", "old")
    # The pair of this machine and that host has nothing.
    assert done.exit_code == 1
    assert "nothing is stored for" in done.stderr


def test_reference_profiles_are_listed_shown_compared_and_kept(run: Run) -> None:
    rows = [line for line in run("list").stdout.splitlines() if line.startswith("reference-")]
    assert len(rows) == 7
    assert all("reference, emulated, read-only" in row for row in rows)
    assert "Emulated on one machine" in run("show", "reference-45.6ms").stdout
    assert run("compare", "before", "reference-45.6ms").exit_code == 0
    done = run("delete", "reference-45.6ms", "--yes")
    assert (done.exit_code, "cannot be deleted" in done.stderr) == (2, True)
    assert run("resume", "reference-45.6ms").exit_code == 2


def test_reference_profiles_are_put_at_their_rtts(run: Run) -> None:
    lines = run("rtt", "--reference").stdout.splitlines()
    assert lines[0].split()[:4] == ["0.4", "ms", "11.6", "ms"]
    assert any(line.startswith("UDT, best") for line in lines)
    boxes = json.loads(run("rtt", "--reference", "--json").stdout)
    assert len({box["rtt_s"] for box in boxes}) == 7
    assert run("rtt", "before", "--reference").exit_code == 2
    done = run("rtt")
    assert (done.exit_code, "--reference shows" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["show", "nothing"], 1, "there is no profile 'nothing'"),
        (["show", "2026"], 2, "ambiguous"),
        (["compare", "before", "nothing"], 1, "there is no profile"),
        (["measure", "x", "--set", "streams"], 2, "PARAMETER=VALUE"),
        (["measure", "x", "--repeats", "0"], 2, "--repeats"),
        (["measure", "x", "--points", "1"], 2, "--points"),
        (["measure", "x", "--name", "before"], 2, "there is a profile of this name"),
        (["measure", "x", "--name", "a\x1bb"], 2, "can be shown"),
        (["measure", "x", "--profile-tool", "xdd"], 2, "--data"),
        (["resume"], 2, "there is no unfinished profile"),
        (["resume", "before"], 2, "there is no unfinished profile"),
        (["export", "before", "--format", "x"], 2, "--format"),
        (["import", "/nowhere"], 1, "cannot be read"),
        (["x", "--set", "packets=1,"], 2, "whole number"),
    ],
)
def test_what_cannot_be_done_is_refused(
    run: Run, words: list[str], code: int, sentence: str
) -> None:
    done = run(*words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert sentence in done.stderr
