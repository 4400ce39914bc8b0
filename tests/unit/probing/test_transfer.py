"""Running a transfer tool: real programs, over real connections on loopback."""

import asyncio
import itertools
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.api.tool import Progress, Step
from advisor.domain.measurement import Interval
from advisor.probing.transfer import Ran, run_transfer

_SENDER = """
import socket, sys, time
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
    for _ in range(int(sys.argv[2])):
        s.sendall(bytes(100_000))
        time.sleep(0.05)
print("all out")
sys.stderr.write("a word\\n")
sys.exit(int(sys.argv[3]))
"""


class _Reader:
    """A tool's, of which the lines are kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def feed(self, line: str) -> Progress | None:
        self.lines.append(line)
        number, _, word = line.partition(" ")
        return Progress(moved_bytes=int(number)) if word == "moved" else None


@pytest.fixture
def sink() -> Iterator[int]:
    """The port of a server that reads everything."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                while connection.recv(65536):
                    pass

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()


async def _run(
    argv: list[str], total_bytes: int, tmp_path: Path, *, ceiling_s: float = 30.0
) -> tuple[Ran, list[Interval], _Reader]:
    seen: list[Interval] = []
    reader = _Reader()
    ran = await run_transfer(
        Step(side="source", argv=argv, list_text="one\n"),
        reader,
        tmp_path / "list",
        total_bytes,
        ceiling_s=ceiling_s,
        sample_every_s=0.1,
        seen=seen.append,
    )
    return ran, seen, reader


@pytest.mark.asyncio
async def test_all_that_was_sent_is_in_the_intervals(sink: int, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _SENDER, str(sink), "20", "0"]
    ran, seen, reader = await _run(argv, 2_000_000, tmp_path)
    assert ran.status == 0
    assert ran.moved_bytes == sum(i.received_bytes for i in ran.intervals) == 2_000_000
    assert seen == ran.intervals
    assert len(seen) >= 3
    assert seen[0].start_s == 0
    assert all(a.end_s == b.start_s for a, b in itertools.pairwise(seen))
    assert ran.begun_s + seen[-1].end_s <= ran.elapsed_s
    assert reader.lines == ["all out"]
    assert ran.errors == "a word\n"
    assert (tmp_path / "list").read_text() == "one\n"


@pytest.mark.asyncio
async def test_a_failing_tool_gets_nothing_for_nothing(sink: int, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _SENDER, str(sink), "10", "3"]
    ran, _, _ = await _run(argv, 5_000_000, tmp_path)
    assert ran.status == 3
    assert ran.moved_bytes <= 1_000_001  # The SYN counts as a byte.


@pytest.mark.asyncio
async def test_the_ceiling_cuts_it_with_what_it_has(sink: int, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _SENDER, str(sink), "10000", "0"]
    ran, _, _ = await _run(argv, 10**9, tmp_path, ceiling_s=1.5)
    assert ran.status is None
    assert 0 < ran.moved_bytes < 10**9


@pytest.mark.asyncio
async def test_what_the_tool_says_counts_where_no_connection_shows_it(tmp_path: Path) -> None:
    script = "for n in 1 2 3 4; do printf '%s moved\\r' ${n}00000; sleep 0.3; done"
    ran, seen, _ = await _run(["/bin/sh", "-c", script], 500_000, tmp_path)
    assert ran.moved_bytes == 500_000
    assert len(seen) >= 3
    assert ran.retransmits is None


@pytest.mark.asyncio
async def test_cancelling_ends_the_tool(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    task = asyncio.create_task(
        _run(["/bin/sh", "-c", f"echo $$ > '{mark}'; exec sleep 60"], 1, tmp_path)
    )
    while not mark.exists() or not mark.read_text():
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert not Path(f"/proc/{mark.read_text().strip()}").exists()


@pytest.mark.asyncio
async def test_a_program_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    ran, _, _ = await _run([str(tmp_path / "nothing")], 1, tmp_path)
    assert ran.status == 127
