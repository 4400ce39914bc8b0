"""`advisor transfer` where something is in the way: servers that go, kills, full disks."""

import contextlib
import signal
import socket
from pathlib import Path

import pytest

from advisor.domain.records import TransferRecord
from advisor.store.history import Store
from tests.benchmarks.disk.files import difference
from tests.soak.gridftp import KillableServer
from tests.soak.runs import Journal

from .conftest import StartAgent
from .moved import make_files, pair_here
from .program import Start, wait_until
from .tool_servers import Server
from .transfers import AnyServer, make_endless, transfer, until_files_arrived, until_lost

GROUPS = {"tiny": (40, 20_000), "small": (10, 1_500_000), "large": (2, 20_000_000)}
FILES = sum(count for count, _ in GROUPS.values())
TOTAL_BYTES = sum(count * size for count, size in GROUPS.values())


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What no test changes."""
    return make_files(tmp_path_factory.mktemp("source") / "run 42", GROUPS)


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What no test changes, nor waits for."""
    return make_endless(tmp_path_factory.mktemp("endless"))


def test_a_server_that_is_not_there(start: Start, server: Server, source: Path) -> None:
    server.end()
    run = transfer(start, server, source, "--json")
    assert run.finish().returncode == 1
    end = run.events[-1]
    assert end["event"] == "transfer_ended"
    assert f"0 of {FILES} files" in end["message"]


def test_ctrl_c_before_anything_is_moved(
    start: Start, start_agent: StartAgent, source: Path
) -> None:
    """What listens at the other side takes the connection, and then says nothing."""
    secret_file = start_agent().secret_file
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mute.settimeout(30)
        run = start(
            *("transfer", str(source), "--to", "/x", "--json"),
            *("--agent", f"127.0.0.1:{mute.getsockname()[1]}", "--secret-file", str(secret_file)),
        )
        connection, _ = mute.accept()
        with connection:
            run.process.send_signal(signal.SIGINT)
            assert run.finish(10).returncode == 130
    assert run.events[-1]["event"] == "gave_up"
    assert run.events[-1]["message"] == "stopped before anything was moved"


def test_begun_again_it_goes_on_from_where_it_was(
    start: Start, every_server: AnyServer, source: Path, tmp_path: Path
) -> None:
    """Killed as hard as can be, after something has arrived."""
    options = ("--json", "--store", str(tmp_path / "store"), "--start", "2x1", "--method", "fixed")
    killed = transfer(start, every_server, source, *options, "--max-rate", "80Mbit")
    until_files_arrived(killed)
    killed.process.kill()
    killed.process.wait()
    run = transfer(start, every_server, source, *options)
    assert run.finish().returncode == 0
    [started] = [event for event in run.events if event["event"] == "transfer_started"]
    assert started["total_bytes"] == TOTAL_BYTES
    assert 0 < started["earlier_bytes"] < TOTAL_BYTES
    end = run.events[-1]
    assert (end["moved_bytes"], end["earlier_bytes"]) == (TOTAL_BYTES, started["earlier_bytes"])
    assert not difference(source, every_server.folder / "there")
    records = Store(tmp_path / "store").records(pair_here())
    [record] = [one for one in records if isinstance(one, TransferRecord)]
    assert record.total_bytes == TOTAL_BYTES - started["earlier_bytes"]


def test_a_server_that_comes_back_is_waited_for(
    start: Start, killable: KillableServer, endless: Path
) -> None:
    """Taken away in the middle, and started again as a host is after a reboot."""
    run = transfer(start, killable, endless, "--json", "--start", "2x1", "--method", "fixed")
    until_files_arrived(run)
    killable.kill()
    until_lost(run)
    killable.start()
    moving = [one["classes"][0] for one in run.events if one["event"] == "files_moving"]
    until_files_arrived(run, moving[-1]["files"])
    run.process.send_signal(signal.SIGINT)
    assert run.finish(30).returncode == 130
    epochs = [event["epoch"] for event in run.events if event["event"] == "epoch_ended"]
    assert epochs == list(range(1, len(epochs) + 1))


def test_restart_is_said_of_what_was_there_before_it(
    start: Start, killable: KillableServer, tmp_path: Path
) -> None:
    """What this run has moved counts when the path was lost meanwhile."""
    source = make_files(tmp_path / "run 43", {"all": (200, 300_000)})
    journal = Journal(tmp_path / ".local/state/advisor/transfers")
    fixed = ("--method", "fixed", "--start", "1x1")
    run = transfer(start, killable, source, "--json", "--restart", *fixed)
    assert wait_until(lambda: journal.ranges().total_bytes > 0, 30)
    killable.kill()
    until_lost(run)
    noted_bytes = journal.ranges().total_bytes
    there = killable.folder / "there"
    before_bytes = killable.received_bytes(there)
    killable.start()
    assert run.finish().returncode == 0
    assert not difference(source, there)
    left_bytes = 200 * 300_000 - noted_bytes
    assert left_bytes > 0

    def received_bytes() -> int:
        return killable.received_bytes(there) - before_bytes

    # The server's log may be a moment late.
    assert wait_until(lambda: received_bytes() >= left_bytes)
    assert received_bytes() == left_bytes


def test_one_is_not_waited_for_longer_than_it_is_to_be(
    start: Start, any_server: AnyServer, endless: Path
) -> None:
    run = transfer(start, any_server, endless, "--json", "--retry-time", "6s")
    until_files_arrived(run)
    any_server.end()
    assert run.finish().returncode == 1
    end = run.events[-1]
    assert end["event"] == "transfer_ended"
    assert end["message"].endswith("the same command resumes from there")


def test_ctrl_c_ends_the_wait_for_it(start: Start, server: Server, endless: Path) -> None:
    run = transfer(start, server, endless, "--json")
    until_files_arrived(run)
    server.end()
    until_lost(run)
    run.process.send_signal(signal.SIGINT)
    assert run.finish(10).returncode == 130


def test_two_of_the_same_at_once(start: Start, server: Server, endless: Path) -> None:
    slow = ("--max-rate", "2Mbit")
    first = transfer(start, server, endless, "--json", *slow)
    first.wait_for("files_moving")
    second = transfer(start, server, endless, *slow).finish()
    assert second.returncode == 1
    assert "the same transfer is already running" in second.stderr
    first.process.send_signal(signal.SIGINT)
    assert first.finish(30).returncode == 130


def test_more_connections_than_the_server_takes(start: Start, endless: Path) -> None:
    """It takes two; more at a time cannot be, and is not what the transfer ends of."""
    few = Server("-connections-max", "2")
    try:
        run = transfer(
            *(start, few, endless, "--json", "--start", "1x1", "--method", "compass"),
            *("--max-streams", "1"),
        )
        for _ in range(4):
            run.wait_for("epoch_ended", 60)
        run.process.send_signal(signal.SIGINT)
        assert run.finish(30).returncode == 130
    finally:
        few.end()
    tried = {e["setting"]["concurrency"] for e in run.events if e["event"] == "epoch_ended"}
    assert max(tried) > 2
    assert run.events[-1]["files"] > 0


def test_a_history_that_takes_nothing_does_not_end_it(
    start: Start, server: Server, source: Path, small_disk: Path
) -> None:
    """The disk that it is on is full."""
    store = small_disk / "store"
    store.mkdir()
    with contextlib.suppress(OSError):
        (small_disk / "filler").write_bytes(bytes(2**20))
    run = transfer(
        *(start, server, source, "--json", "--store", str(store)),
        *("--method", "fixed", "--start", "1x1"),
    )
    assert run.finish().returncode == 0
    notices = [event["message"] for event in run.events if event["event"] == "notice"]
    assert len([one for one in notices if "is not in the history" in one]) == 1, notices
    assert not difference(source, server.folder / "there")
