"""Several destinations of one source in a lab: learnt, planned, and served with real clients."""

import contextlib
import filecmp
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.hosts.scratch import links_are_protected
from advisor.report.ndjson import schema
from tests.plugins.tools.gridftp_lines import require

from .labs import Lab, labs_below, marked
from .program import Run, Start

HOSTS = ("kraken", "mason")
VALIDATOR = jsonschema.Draft202012Validator(schema())
FILES = {"one": 3_000_000, "two": 700_000, "deep/three": 41, "none": 0}


class Shared:
    """A lab of two destinations that were learnt, and `advisor share` there."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.trained: list[dict[str, Any]] = []

    def folder(self, host: str) -> Path:
        """Where its server may write."""
        return self.lab.folder / "files" / host

    def name(self, host: str) -> str:
        """As a destination."""
        return f"lab:{self.lab.name}:{host}"

    def start(self, command: str, *words: str) -> Run:
        """Both destinations are in `words` as KRAKEN and MASON."""
        names = {host.upper(): self.name(host) for host in HOSTS}
        named = [names.get(word.partition("=")[0], word.partition("=")[0]) for word in words]
        asked = ["".join(word.partition("=")[1:]) for word in words]
        line = ["share", command, *map("".join, zip(named, asked, strict=True)), "--json"]
        return Run(self.lab.home, line, environment=self.lab.environment)

    def events(self, command: str, *words: str, code: int = 0) -> list[dict[str, Any]]:
        """What it tells to its end."""
        run = self.start(command, *words)
        try:
            done = run.finish()
        finally:
            run.kill()
        assert done.returncode == code, done.stderr
        for event in run.events:
            VALIDATOR.validate(event)
        return run.events

    def servers(self, host: str) -> list[int]:
        """The processes of its GridFTP server."""
        [network] = [one["network"] for one in self.lab.state["hosts"] if one["name"] == host]
        inside = Path(network).stat().st_ino
        found = []
        for pid, line in marked(self.lab.state["mark"]).items():
            with contextlib.suppress(OSError):
                if "globus-gridftp-server" in line:
                    is_there = Path(f"/proc/{pid}/ns/net").stat().st_ino == inside
                    found += [pid] if is_there else []
        return found

    def to(self, below: str) -> list[str]:
        return ["--to", f"{self.lab.folder}/files/%h/{below}"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, lab_cache: Path) -> Iterator[Shared]:
    require("globus-gridftp-server", "globus-url-copy")
    with (
        tempfile.TemporaryDirectory(prefix="adv") as home,
        labs_below(Path(home), lab_cache) as new,
    ):
        lab = new().up("--hosts", ",".join(HOSTS), "--source-rate", "100Mbit", "--mtu", "1500")
        found = Shared(lab)
        words = ["KRAKEN", "MASON", *found.to(""), "--space", "32MiB", "--streams", "4"]
        found.trained = found.events("train", *words, "--time", "24s", "--step", "4s")
        yield found


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one for one in events if one["event"] == kind]


def test_what_is_learnt_is_stored_and_nothing_stays(shared: Shared) -> None:
    [started] = of(shared.trained, "shares_started")
    assert (started["purpose"], started["lasts_s"], started["parallelism"]) == ("train", 24, 4)
    assert set(started["concurrency"].values()) == {2}
    seen = of(shared.trained, "shares_seen")
    assert len(seen) >= 5
    levels = [[row["concurrency"] for row in one["rows"]] for one in seen]
    assert levels[0] == [2, 2]
    assert {1 <= level <= 8 for one in levels for level in one} == {True}
    assert len({level for level, _ in levels}) >= 3
    assert {row["parallelism"] for one in seen for row in one["rows"]} == {4}
    rows = [row for one in seen for row in one["rows"]]
    # On a busy host, clients may need a whole epoch to begin.
    assert {row.get("failure", "") for row in rows if not row["measured_bps"]} <= {
        "nothing arrived"
    }
    assert sum(row["measured_bps"] > 0 for row in rows) > len(rows) / 2
    assert shared.trained[-1]["event"] == "shares_ended"
    assert shared.trained[-1]["complete"]
    assert [list(shared.folder(host).iterdir()) for host in HOSTS] == [[], []]


@pytest.mark.skipif(
    not links_are_protected(), reason="no folder is opened to servers: fs.protected_symlinks is 0"
)
def test_where_no_server_answers_nothing_was_measured(start: Start, tmp_path: Path) -> None:
    require("globus-url-copy")
    done = start("share", "train", f"ftp://localhost:1{tmp_path}", "--time", "1min").finish()
    assert done.returncode == 1
    assert "Nothing answers at localhost:1: start a GridFTP server there" in done.stderr
    assert "0 destinations were measured; incomplete: localhost" in done.stdout
    assert list(tmp_path.rglob(".advisor*")) == []


def test_a_plan_has_concurrencies_intervals_and_lines_that_are_accepted(
    shared: Shared, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "file").write_bytes(os.urandom(100_000))
    words = ["--data", str(data), *shared.to("planned/")]
    planned = shared.events("plan", "KRAKEN=1", "MASON=1", *words)[-1]["plan"]
    assert [row["destination"] for row in planned["rows"]] == [shared.name(one) for one in HOSTS]
    for row in planned["rows"]:
        low, high = row["interval_bps"]
        assert 0 < low <= row["expected_bps"] <= high
    for host, command in zip(HOSTS, planned["commands"], strict=True):
        shared.lab.do("exec", "--", *command["argv"])
        copy = shared.folder(host) / "planned" / "file"
        assert filecmp.cmp(copy, data / "file", shallow=False)


def test_files_arrive_whole_at_all_destinations(shared: Shared, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    for name, size in FILES.items():
        (data / name).write_bytes(os.urandom(size))
    words = [
        "KRAKEN=2",
        "MASON=1",
        "--data",
        str(data),
        *shared.to("run"),
        "--run",
        "--epoch",
        "2s",
    ]
    events = shared.events("plan", *words)
    ended = of(events, "destination_ended")
    assert sorted(one["destination"] for one in ended) == [shared.name(one) for one in HOSTS]
    assert all(one["complete"] and one["files"] == len(FILES) for one in ended)
    assert events[-1]["event"] == "shares_ended"
    for host in HOSTS:
        there = shared.folder(host) / "run"
        assert filecmp.cmpfiles(data, there, list(FILES), shallow=False)[0] == list(FILES)


def test_shares_change_while_it_runs_and_a_server_that_vanishes_stops_one_alone(
    shared: Shared, tmp_path: Path
) -> None:
    data = tmp_path / "large"
    data.touch()
    os.truncate(data, 2**38)
    words = ["KRAKEN=1", "MASON=1", "--data", str(data), *shared.to("large"), "--run", "--epoch"]
    run = shared.start("plan", *words, "2s", "--retry-time", "2s", "--restart")
    try:
        run.wait_for("shares_seen", epoch=2)
        servers = shared.servers("mason")
        assert servers
        for pid in servers:
            os.kill(pid, signal.SIGKILL)
        ended = run.wait_for("destination_ended", destination=shared.name("mason"))
        assert not ended["complete"]
        # The epoch in which it ended had it too.
        run.wait_for("shares_seen")
        seen = run.wait_for("shares_seen")
        assert [row["destination"] for row in seen["rows"]] == [shared.name("kraken")]
        os.kill(run.process.pid, signal.SIGINT)
        done = run.finish()
    finally:
        run.kill()
    assert done.returncode == 130
    assert run.events[-1]["event"] == "shares_ended"
    assert not run.events[-1]["complete"]


def test_a_factor_refers_to_a_base_that_is_measured_first(shared: Shared, tmp_path: Path) -> None:
    data = tmp_path / "large"
    data.touch()
    os.truncate(data, 2**38)
    words = ["KRAKEN=x1.5", "MASON", "--data", str(data), *shared.to("factor")]
    run = shared.start("plan", *words, "--run", "--epoch", "2s", "--restart")
    try:
        run.wait_for("shares_seen", epoch=2)
        os.kill(run.process.pid, signal.SIGINT)
        run.finish()
    finally:
        run.kill()
    [started] = of(run.events, "shares_started")
    assert set(started["concurrency"].values()) == {2}
    base, later, *_ = of(run.events, "shares_seen")
    names = [shared.name(host) for host in HOSTS]
    assert [row["concurrency"] for row in base["rows"]] == [2, 2]
    base_bps = {row["destination"]: row["measured_bps"] for row in base["rows"]}
    asked_bps = {row["destination"]: row["asked_bps"] for row in later["rows"]}
    assert asked_bps[names[0]] == pytest.approx(1.5 * base_bps[names[0]])


def test_nothing_known_says_how_to_learn_it(shared: Shared, tmp_path: Path) -> None:
    words = ["KRAKEN=1", "MASON=1", "--store", str(tmp_path / "empty")]
    [event] = shared.events("plan", *words, code=2)
    assert "advisor share train" in event["message"]


def test_a_destination_that_is_not_there(shared: Shared) -> None:
    shared.lab.do("cut", "--host", "mason")
    try:
        events = shared.events("plan", "KRAKEN=400Mbit", "MASON=1", code=1)
    finally:
        shared.lab.do("restore", "--host", "mason")
    [ended] = of(events, "destination_ended")
    assert ended["destination"] == shared.name("mason")
    assert [row["destination"] for row in events[-1]["plan"]["rows"]] == [shared.name("kraken")]
