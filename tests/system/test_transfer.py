"""`advisor transfer` on this host: real server and client, short epochs."""

import contextlib
import itertools
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import msgspec
import psutil
import pytest

from advisor.domain.measurement import Measurement
from advisor.domain.records import AdviceRecord, TransferRecord
from advisor.domain.space import Setting
from advisor.report.ndjson import schema
from advisor.store.history import Store
from advisor.testing.samples import an_advice
from tests.benchmarks.disk.files import difference
from tests.soak.ranges import Range
from tests.soak.runs import Journal

from .moved import damage, keep_sweep, make_files, pair_here
from .program import Run, Start, wait_until
from .tool_servers import Server
from .transfers import EPOCHS, MANY, MANY_BYTES, PATH, make_endless, transfer

GROUPS = {"tiny": (40, 20_000), "small": (10, 1_500_000), "large": (3, 40_000_000)}
FILES = sum(count for count, _ in GROUPS.values())
TOTAL_BYTES = sum(count * size for count, size in GROUPS.values())
# Of those that are moved slowly.
FEW_GROUPS = {"tiny": (40, 20_000), "small": (10, 1_500_000), "large": (3, 15_000_000)}
FEW_BYTES = sum(count * size for count, size in FEW_GROUPS.values())


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What no test changes."""
    return make_files(tmp_path_factory.mktemp("source") / "run 42", GROUPS)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fewer bytes; no test changes them."""
    return make_files(tmp_path_factory.mktemp("few"), FEW_GROUPS)


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What no test changes, nor waits for."""
    return make_endless(tmp_path_factory.mktemp("endless"))


@pytest.mark.parametrize("method", ["doubling", "harp"])
def test_everything_arrives_whatever_tunes(
    start: Start, server: Server, source: Path, tmp_path: Path, method: str
) -> None:
    store = tmp_path / "store"
    run = transfer(start, server, source, "--json", "--method", method, "--store", str(store))
    done = run.finish()
    assert done.returncode == 0, done.stderr
    validator = jsonschema.Draft202012Validator(schema())
    for event in run.events:
        validator.validate(event)
    assert not difference(source, server.folder / "there")
    end = run.events[-1]
    assert end["event"] == "transfer_ended"
    assert end["complete"]
    assert (end["files"], end["moved_bytes"]) == (FILES, TOTAL_BYTES)
    records = Store(store).records(pair_here())
    [record] = [one for one in records if isinstance(one, TransferRecord)]
    assert record.total_bytes == TOTAL_BYTES


def _until_changed(run: Run, changes: int) -> None:
    for _ in range(changes):
        run.wait_for("setting_changed")
    run.process.send_signal(signal.SIGINT)


def _events_of_transfer(run: Run) -> list[dict[str, Any]]:
    """From its start on, but for what was said of the signal."""
    names = [event["event"] for event in run.events]
    events_since = run.events[names.index("transfer_started") :]
    return [event for event in events_since if not event.get("message", "").startswith("stopping;")]


def _kept(run: Run, store: Path) -> list[dict[str, Any]]:
    """What Review has of it, from its start on."""
    [started] = [event for event in run.events if event["event"] == "transfer_started"]
    events = Store(store).events(pair_here(), started["session"])
    # As JSON has them, which knows no tuples.
    kept: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(events))
    return kept[[event["event"] for event in kept].index("transfer_started") :]


def test_settings_change_while_it_runs_and_epochs_are_stored(
    start: Start, server: Server, endless: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    run = transfer(start, server, endless, "--json", "--max-flows", "6", "--store", str(store))
    _until_changed(run, 3)
    assert run.finish(30).returncode == 130
    validator = jsonschema.Draft202012Validator(schema())
    for event in run.events:
        validator.validate(event)
    changes = [event for event in run.events if event["event"] == "setting_changed"]
    for change, following in itertools.pairwise(changes):
        assert change["new"] == following["old"]
    settings = [change["new"] for change in changes] + [changes[0]["old"]]
    assert all(one["concurrency"] * one["parallelism"] <= 6 for one in settings)
    probes = Store(store).probes(pair_here())
    assert len(probes) >= 3
    by_ordinal = dict(enumerate(probes, 1))
    for change in changes:
        probe = by_ordinal[change["epoch"]]
        assert (probe.setting, probe.label, probe.stage) == (change["old"], "epoch", "transfer")
        assert isinstance(probe.result, Measurement)
        assert probe.result.throughput_bps == change["throughput_bps"] > 0
        assert probe.file_bytes == MANY_BYTES
    # What the next transfer learns from.
    assert len(Store(store).transfers()) == len(probes)
    assert _kept(run, store) == _events_of_transfer(run)
    moving = [event["classes"] for event in run.events if event["event"] == "files_moving"]
    assert all([one["size"] for one in classes] == ["all"] for classes in moving)


def test_ctrl_c_ends_it_at_once_and_says_what_is_there(
    start: Start, server: Server, endless: Path
) -> None:
    run = transfer(start, server, endless, "--json")
    run.wait_for("files_moving")
    run.process.send_signal(signal.SIGINT)
    assert run.finish(30).returncode == 130
    end = run.events[-1]
    assert end["event"] == "transfer_ended"
    assert not end["complete"]
    assert end["message"].startswith("stopped: ")
    assert end["files"] < MANY
    assert f"{end['files']} of {MANY} files" in end["message"]
    assert end["message"].endswith("the same command resumes from there")
    # What is said to be there is there.
    there = (server.folder / "there" / "many").iterdir()
    assert sum(one.stat().st_size == MANY_BYTES for one in there) >= end["files"]


def test_harp_follows_what_past_transfers_say(
    start: Start, server: Server, endless: Path, tmp_path: Path
) -> None:
    """A history with its best at four files at a time, from a start at one.

    Three keep 90 % of it, which is less than HARP's relaxation keeps, and two are two steps away.
    """
    store = Store(tmp_path / "store")
    rates_bps = {
        (files, streams): 4e8 * (1 - 0.1 * (files - 4) ** 2 - 0.02 * (streams - 2) ** 2)
        for files, streams in itertools.product((1, 2, 3, 4), (1, 2, 4))
    }
    keep_sweep(store, rates_bps, file_bytes=MANY_BYTES, files=MANY)
    run = transfer(
        *(start, server, endless, "--json", "--method", "harp", "--start", "1x1"),
        *("--store", store.argument),
    )
    changed = run.wait_for("setting_changed")
    run.process.send_signal(signal.SIGINT)
    assert run.finish(30).returncode == 130
    assert changed["epoch"] >= 4
    assert changed["old"] == {"concurrency": 1, "parallelism": 1}
    assert changed["new"]["concurrency"] >= 3


def test_as_text(start: Start, server: Server, source: Path) -> None:
    done = transfer(start, server, source, "--method", "fixed", "--start", "3x2").finish()
    assert done.returncode == 0, done.stderr
    assert f"all {FILES} files are there" in done.stdout
    assert not difference(source, server.folder / "there")


def test_files_that_cannot_be_carried_are_named(
    start: Start, server: Server, source: Path, tmp_path: Path
) -> None:
    with_one = shutil.copytree(source, tmp_path / "with one")
    (with_one / "tiny" / "naïve.dat").write_bytes(b"x" * 1000)
    done = transfer(start, server, with_one).finish()
    assert done.returncode == 1
    assert f"{FILES} of {FILES + 1} files" in done.stdout
    assert "naïve.dat" in done.stdout


def test_as_urls(start: Start, server: Server, source: Path) -> None:
    """As globus-url-copy takes them, spaces and all."""
    url = server.url.replace("127.0.0.1", "localhost")
    there = f"{url}{quote(str(server.folder / 'the re'))}"
    run = start("transfer", source.as_uri(), there, *PATH, *EPOCHS, "--json")
    assert run.finish().returncode == 0, run.events
    assert not difference(source, server.folder / "the re")


def test_what_differs_at_the_destination_is_moved_again(
    start: Start, server: Server, few: Path, tmp_path: Path
) -> None:
    """A file is damaged, keeping its size, between its arrival and its comparison."""
    there = server.folder / "there"
    run = transfer(start, server, few, "--json", "--verify", "--max-rate", "80Mbit")
    # Among the first that are moved, and noted once nothing writes it any more.
    first = Range("tiny/0.dat", 0, FEW_GROUPS["tiny"][1])
    journal = Journal(tmp_path / ".local/state/advisor/transfers")
    assert wait_until(lambda: journal.ranges().has(first), 60)
    damage(there / first.name)
    assert run.finish().returncode == 0
    said = [event["message"] for event in run.events if event["event"] == "notice"]
    assert any(f"1 of {FILES} files differ at the destination" in one for one in said), said
    assert any("The one file compared by checksum: identical." in one for one in said), said
    assert not difference(few, there)


def test_what_was_moved_is_compared_though_something_was_left_out(
    start: Start, server: Server, tmp_path: Path
) -> None:
    some = make_files(tmp_path / "some", {"small": (3, 100_000)})
    os.mkfifo(some / "pipe")
    run = transfer(start, server, some, "--json", "--verify")
    assert run.finish().returncode == 1
    assert run.events[-1]["missing_files"] == 1
    said = [event["message"] for event in run.events if event["event"] == "notice"]
    assert "All 3 files compared by checksum: identical." in said


def test_a_ceiling_holds_and_its_epochs_teach_nothing(
    start: Start, server: Server, few: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    run = transfer(
        *(start, server, few, "--json", "--max-rate", "100Mbit", "--store", str(store)),
        *("--method", "fixed", "--start", "4x1"),
    )
    assert run.finish().returncode == 0
    end = run.events[-1]
    # A piece of a second is above it, and what is made up of one.
    assert (end["moved_bytes"] - 2 * 100e6 / 8) * 8 / end["elapsed_s"] <= 100e6
    assert Store(store).probes(pair_here()) == []
    assert any(event["event"] == "epoch_ended" for event in run.events)
    assert _kept(run, store) == _events_of_transfer(run), "Review shows it all the same"


def test_clients_are_as_nice_as_they_are_to_be(start: Start, server: Server, endless: Path) -> None:
    """So much nicer than it is itself."""
    run = transfer(start, server, endless, "--json", "--nice", "7")
    seen: set[int] = set()
    while not seen:
        run.wait_for("files_moving")
        for client in psutil.Process(run.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if client.name() == "globus-url-copy":
                    seen.add(client.nice())
    run.process.send_signal(signal.SIGINT)
    run.finish(30)
    assert seen == {min(os.nice(0) + 7, 19)}


@pytest.mark.parametrize("options", [["--restart-epochs"], ["--price", "2%"]])
def test_variants_move_all_of_it(
    start: Start, server: Server, source: Path, options: list[str]
) -> None:
    run = transfer(start, server, source, "--json", *options)
    assert run.finish().returncode == 0
    assert not difference(source, server.folder / "there")


@pytest.mark.parametrize(
    ("subject", "setting", "levels"),
    [
        ("globus-url-copy", {"concurrency": 3, "parallelism": 2}, (3, 2)),
        ("tcp", {"streams": 4}, (1, 4)),
    ],
)
def test_whether_an_advice_came_true(
    start: Start,
    server: Server,
    source: Path,
    tmp_path: Path,
    subject: str,
    setting: Setting,
    levels: tuple[int, int],
) -> None:
    """What it promised is far from all that this machine can do; where it starts is reported."""
    store = Store(tmp_path / "store")
    store.append(
        AdviceRecord(
            pair=pair_here(),
            recorded_s=time.time(),
            advice=an_advice(
                pair_here(),
                subject=subject,
                setting=setting,
                expected_bps=1.5e3,
                interval_bps=(1e3, 2e3),
                session="feedcafe",
            ),
        )
    )
    run = transfer(start, server, source, "--json", "--store", store.argument)
    assert run.finish().returncode == 0
    [started] = [event for event in run.events if event["event"] == "transfer_started"]
    assert tuple(started["setting"].values()) == levels
    assert started["advised"]["session"] == "feedcafe"
    advised = run.events[-1]["advised"]
    assert advised["session"] == "feedcafe"
    assert advised["interval_bps"] == [1e3, 2e3]
    [session] = [one for one in store.sessions(pair_here()) if one.session == "feedcafe"]
    assert [one.came_true for one in session.transfers] == ["above"]
    assert session.transfers[0].total_bytes == TOTAL_BYTES


def test_bounds_that_leave_nothing_to_tune(start: Start, server: Server, source: Path) -> None:
    done = transfer(start, server, source, "--max-flows", "1").finish()
    assert done.returncode == 2
    assert "--method fixed" in done.stderr
