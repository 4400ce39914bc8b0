"""Attacks on the turn to measure: who holds it, blocks it or plants something in its place."""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.agent import turn
from advisor.agent.turn import GivenUp, Turn

from .conftest import NOBODY, needs_root

pytestmark = pytest.mark.usefixtures("own_turn")

# Held as the stranger's, who answers whoever asks, or not.
_HOLDS = """
import os, socket, sys
uid, name, listens = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "True"
if os.geteuid() == 0:
    os.setuid(uid)
held = socket.socket(socket.AF_UNIX)
held.bind(chr(0) + name)
if listens:
    held.listen(1)
print(flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def stranger(name: str, *, listens: bool) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", _HOLDS, str(NOBODY), name, str(listens)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def reports_of(mine: Turn) -> list[int]:
    """How many are said to be ahead until the turn is granted."""
    reports = []

    async def report(ahead: int) -> None:
        reports.append(ahead)

    async def wait() -> None:
        async with asyncio.timeout(30), mine.taken(report):
            pass

    asyncio.run(wait())
    return reports


@pytest.mark.parametrize(
    "listens", [False, pytest.param(True, marks=needs_root)], ids=["is silent", "answers"]
)
def test_a_stranger_who_never_lets_go_delays_once(
    monkeypatch: pytest.MonkeyPatch, own_turn: str, listens: bool
) -> None:
    monkeypatch.setattr(turn, "_STRANGER_S", 0.5)
    monkeypatch.setattr(turn, "_ASK_EVERY_S", 0.1)
    mine = Turn()
    with stranger(own_turn, listens=listens):
        began_s = time.monotonic()
        assert reports_of(mine) == [1]
        assert time.monotonic() - began_s > 0.4
        # The second time nothing is waited for.
        assert reports_of(mine) == []


@needs_root
def test_another_user_who_measures_is_waited_for(own_turn: str) -> None:
    with stranger(own_turn, listens=True) as other:

        async def run() -> list[str]:
            said = []

            async def report(ahead: int) -> None:
                said.append(f"{ahead} ahead")
                other.kill()

            async with asyncio.timeout(30), Turn().taken(report):
                said.append("measured")
            return said

        assert asyncio.run(run()) == ["1 ahead", "measured"]


@pytest.mark.parametrize("kind", ["link", "folder", "of another user"])
def test_what_is_planted_among_temporary_files_is_not_touched(
    no_variables: Path, kind: str
) -> None:
    """A link or a folder in the place of the lock crashed the agent."""
    lock = Path(tempfile.gettempdir()) / f"advisor-probe-{os.getuid()}.lock"
    if kind == "link":
        lock.symlink_to(no_variables.parent)
    elif kind == "folder":
        lock.mkdir()
    else:
        lock.touch(0o000)
    assert reports_of(Turn()) == []


def test_without_any_private_folder_there_are_turns_still(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "open"))
    running = []

    async def report(_: int) -> None:
        pass

    async def measure(mine: Turn) -> None:
        async with mine.taken(report):
            running.append(1)
            assert sum(running) == 1
            await asyncio.sleep(0.05)
            running.append(-1)

    async def run() -> None:
        async with asyncio.timeout(60):
            await asyncio.gather(*(measure(Turn()) for _ in range(4)))

    asyncio.run(run())
    assert len(running) == 8


def test_one_that_is_cancelled_while_it_waits_holds_nothing(own_turn: str) -> None:
    async def report(_: int) -> None:
        pass

    async def run() -> None:
        mine = Turn()
        with stranger(own_turn, listens=False), pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), mine.taken(report):
                pass
        async with asyncio.timeout(30), Turn().taken(report):
            pass

    asyncio.run(run())


def test_one_that_leaves_while_it_waits_takes_the_turn_from_nobody() -> None:
    async def run() -> None:
        mine, other = Turn(), Turn()
        waits = asyncio.Event()

        async def report(_: int) -> None:
            waits.set()

        async def wait() -> None:
            async with mine.taken(report):
                pass

        async with asyncio.timeout(30), mine.taken(report):
            waiting = asyncio.create_task(wait())
            await waits.wait()
            waiting.cancel()
            await asyncio.wait([waiting])
            assert not other.take_back()
        assert other.take_back()
        other.lend()

    asyncio.run(run())


def test_one_that_gives_up_while_it_waits_holds_nothing() -> None:
    async def run() -> None:
        mine, other = Turn(), Turn()
        given_up = asyncio.Event()

        async def report(_: int) -> None:
            given_up.set()

        async with asyncio.timeout(30):
            async with other.taken(report):
                with pytest.raises(GivenUp):
                    async with mine.taken(report, given_up):
                        pass
            async with other.taken(report):
                pass

    asyncio.run(run())
