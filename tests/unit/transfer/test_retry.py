"""A transfer whose path is lost for a while, and one whose path stays away."""

from typing import Any

import pytest

from advisor.agent.peer_errors import PeerError
from advisor.domain import orders as o
from advisor.domain.manifest import Exclusion
from advisor.models.slicing import FileEntry
from advisor.runtime.control import Control
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.outcome import TransferOutcome, TransferState
from advisor.transfer.engine.retry import Retry

FILES = [FileEntry("one", 100, 0), FileEntry("other", 200, 0)]
ONE = {"one": [(0, 100)]}
LEFT_OUT = (Exclusion(name="pipe", reason="a named pipe"),)
BOTH = ONE | {"other": [(0, 200)]}


class FakeControl(Control):
    """Its pauses pass at once, on a clock that stands still otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    async def stopped_within(self, seconds: float) -> bool:
        self.now_s += seconds
        return self.stop.is_set()


class FakeSession:
    """Reconnects after this many failures, and finds these ranges at the destination then."""

    def __init__(self, failures: int, done: dict[str, list[tuple[int, int]]]) -> None:
        self.control = FakeControl()
        self.events = self.far_end = self
        self.failures = failures
        self.notices: list[str] = []
        self._done = done

    def clock(self) -> float:
        return self.control.now_s

    def notice(self, message: str) -> None:
        self.notices.append(message)

    async def connect(self) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise PeerError("no route")

    async def done(self, *_: Any) -> dict[str, list[tuple[int, int]]]:
        return self._done


def state(done: dict[str, list[tuple[int, int]]]) -> TransferState:
    journal: Any = None
    return TransferState([FileGroup("all", FILES, done=done)], journal, exclusions=LEFT_OUT)


def outcome(*, complete: bool = False, may_pass: bool = True) -> TransferOutcome:
    return TransferOutcome(
        complete=complete,
        files=1,
        moved_bytes=100,
        earlier_bytes=0,
        elapsed_s=1.0,
        message="",
        missing=[],
        missing_files=0,
        exit_code=0 if complete else 1,
        may_pass=may_pass,
    )


def retry_of(session: Any, before: TransferState, retry_s: float = 60.0) -> Retry:
    route: Any = None
    retry = Retry(session, route, before, retry_s)
    retry._period._clock = session.clock
    return retry


def moved(attempt: TransferState, done: dict[str, list[tuple[int, int]]]) -> TransferState:
    """The same attempt, in which this much has arrived since."""
    attempt.groups = state(done).groups
    return attempt


@pytest.mark.asyncio
async def test_it_resumes_from_what_is_at_the_destination_once_the_path_is_back() -> None:
    session = FakeSession(2, ONE)
    retry = retry_of(session, moved(state({}), ONE))
    assert await retry.outcome_after(outcome()) is None
    assert len(session.notices) == 3
    assert "The path is lost" in session.notices[0]
    assert (retry.state.arrived_bytes, retry.state.earlier_bytes) == (100, 0)
    assert retry.state.exclusions == LEFT_OUT
    done = outcome(complete=True, may_pass=False)
    assert await retry.outcome_after(done) is done


@pytest.mark.asyncio
async def test_the_first_attempt_is_not_retried_before_anything_has_arrived() -> None:
    session = FakeSession(0, {})
    failed = outcome()
    assert await retry_of(session, state(ONE)).outcome_after(failed) is failed
    assert session.notices == []


@pytest.mark.asyncio
async def test_what_cannot_pass_is_not_retried() -> None:
    session = FakeSession(0, ONE)
    failed = outcome(may_pass=False)
    assert await retry_of(session, moved(state({}), ONE)).outcome_after(failed) is failed


@pytest.mark.asyncio
async def test_it_gives_up_when_the_time_is_over() -> None:
    session = FakeSession(100, ONE)
    failed = outcome()
    retry = retry_of(session, moved(state({}), ONE), retry_s=60.0)
    assert await retry.outcome_after(failed) is failed
    # After 5, 10 and 20 s; the next pause would end after 75 s.
    assert [notice.split(", for up to ")[1] for notice in session.notices] == [
        "1 min.",
        "55 s.",
        "45 s.",
    ]


@pytest.mark.asyncio
async def test_stopping_ends_the_wait() -> None:
    session = FakeSession(100, ONE)
    session.control.obey(o.Stop())
    ended = await retry_of(session, moved(state({}), ONE)).outcome_after(outcome())
    assert ended is not None
    assert ended.exit_code == 130


@pytest.mark.asyncio
async def test_an_attempt_without_progress_does_not_restart_the_period() -> None:
    session = FakeSession(0, ONE)
    retry = retry_of(session, moved(state({}), ONE), retry_s=60.0)
    assert await retry.outcome_after(outcome()) is None
    session.control.now_s += 60.0
    failed = outcome()
    assert await retry.outcome_after(failed) is failed
    retry = retry_of(session, moved(state({}), ONE), retry_s=60.0)
    assert await retry.outcome_after(outcome()) is None
    session.control.now_s += 60.0
    moved(retry.state, BOTH)
    assert await retry.outcome_after(outcome()) is None
