"""How sessions end: their exit codes, their last event, and what they release."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.agent.secret import BadSecret
from advisor.domain import events as ev
from advisor.runtime.control import Control
from advisor.runtime.lifecycle import Session
from advisor.runtime.session_id import new_session_id
from advisor.store.errors import StoreError
from advisor.store.history import Store

Work = Callable[[Session], Coroutine[Any, Any, int]]


class OutOfLuck(Exception):
    """A failure that this kind of session alone knows."""


class Example(Session):
    exit_codes: ClassVar[Mapping[type[Exception], int]] = {OutOfLuck: 7, OSError: 1}

    def __init__(self, folder: Path, work: Work) -> None:
        self.reported: list[ev.AnyEvent] = []
        self.closed = 0
        super().__init__(Store(folder), self.reported.append, Control())
        self._work = work

    async def _run(self) -> int:
        return await self._work(self)

    async def _close(self) -> None:
        self.closed += 1
        await super()._close()


def gave_up(session: Example) -> tuple[str, int]:
    [event] = session.reported
    assert isinstance(event, ev.GaveUp)
    return event.message, event.exit_code


@pytest.mark.asyncio
async def test_a_session_that_ends_returns_its_own_exit_code(tmp_path: Path) -> None:
    async def work(_: Session) -> int:
        return 5

    session = Example(tmp_path, work)
    assert await session.run() == 5
    assert (session.reported, session.closed) == ([], 1)


@pytest.mark.parametrize(
    ("error", "message", "exit_code"),
    [
        (PeerError("nobody there"), "nobody there", 3),
        (PeerGone("gone"), "gone", 3),
        (StoreError("full"), "full", 1),
        (ValueError("--budget is too short"), "--budget is too short", 2),
        (BadSecret("--secret-file s3 is empty"), "--secret-file s3 is empty", 2),
        (OutOfLuck("no luck"), "no luck", 7),
        (PermissionError(13, "Permission denied", "/d"), "/d: Permission denied", 1),
    ],
)
@pytest.mark.asyncio
async def test_a_failure_is_reported_and_has_an_exit_code(
    tmp_path: Path, error: Exception, message: str, exit_code: int
) -> None:
    async def work(_: Session) -> int:
        raise error

    session = Example(tmp_path, work)
    assert await session.run() == exit_code
    assert gave_up(session) == (message, exit_code)
    assert session.closed == 1


@pytest.mark.asyncio
async def test_a_mistake_in_the_program_is_not_hidden(tmp_path: Path) -> None:
    async def work(_: Session) -> int:
        raise KeyError("x")

    session = Example(tmp_path, work)
    with pytest.raises(KeyError):
        await session.run()
    assert session.closed == 1


@pytest.mark.asyncio
async def test_a_session_is_cancelled_by_the_order_to_stop(tmp_path: Path) -> None:
    async def work(session: Session) -> int:
        session.control.stop.set()
        await asyncio.sleep(60)
        return 0

    session = Example(tmp_path, work)
    assert await session.run() == 130
    assert gave_up(session) == ("stopped", 130)


@pytest.mark.asyncio
async def test_a_session_that_ends_itself_is_not_cancelled(tmp_path: Path) -> None:
    async def work(session: Session) -> int:
        session.ends_itself = True
        session.control.stop.set()
        await asyncio.sleep(0.01)
        return 0

    session = Example(tmp_path, work)
    assert await session.run() == 0
    assert session.reported == []


@pytest.mark.asyncio
async def test_events_are_stamped_from_the_start_of_the_session(tmp_path: Path) -> None:
    async def work(session: Session) -> int:
        await asyncio.sleep(0.02)
        session.events.notice("half way")
        return 0

    session = Example(tmp_path, work)
    await session.run()
    [event] = session.reported
    assert isinstance(event, ev.Notice)
    assert 0.01 < event.at_s < 10


def test_session_ids_sort_by_time_and_differ() -> None:
    one, other = new_session_id(), new_session_id()
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{6}", one)
    assert one != other
    assert one[:15] <= other[:15]
