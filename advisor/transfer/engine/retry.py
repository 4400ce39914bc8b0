"""Retries while the path or a host is away: waits until it is back, and resumes the transfer."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from advisor.agent.peer_errors import PeerError
from advisor.domain.quantities import format_duration
from advisor.runtime.control import Control
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.outcome import TransferOutcome, TransferState, stopped
from advisor.transfer.engine.route import Route
from advisor.transfer.engine.session import TransferSession

RETRY_S: Final = 600.0
"""The time that a host takes to restart."""

_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 60.0

_Found = TypeVar("_Found")


class RetryPeriod:
    """How long nothing may arrive before a running transfer is given up."""

    def __init__(self, lasts_s: float, control: Control, tell: Callable[[str], None]) -> None:
        self._lasts_s = lasts_s
        self._control = control
        self._tell = tell
        self._clock = asyncio.get_running_loop().time
        self._pause_s = _FIRST_PAUSE_S
        self._since_s = 0.0

    def lost(self, *, had_arrived: bool) -> None:
        """Nothing gets through now. `had_arrived`: something did since the path was last lost."""
        if had_arrived:
            self._since_s, self._pause_s = self._clock(), _FIRST_PAUSE_S

    async def wait_until_back(self, look: Callable[[], Awaitable[_Found]]) -> _Found | None:
        """Try `look` after pauses that grow, until it raises no PeerError; returns its result.

        None when the period is over, or the user stopped.
        """
        end_s = self._since_s + self._lasts_s
        while self._clock() + self._pause_s <= end_s:
            self._tell(
                f"The path is lost: retrying in {format_duration(self._pause_s)}, for up to "
                f"{format_duration(end_s - self._clock())}."
            )
            if await self._control.stopped_within(self._pause_s):
                return None
            self._pause_s = min(_LONGEST_PAUSE_S, 2 * self._pause_s)
            with contextlib.suppress(PeerError):
                return await look()
        return None


class Retry:
    """Resumes a transfer of one file group after its path was lost for a while.

    The first attempt is not retried before something has arrived. `state`: that of the present
    attempt. `began_s`: when the first one began, by the event loop's clock.
    """

    def __init__(
        self, session: TransferSession, route: Route, state: TransferState, retry_s: float
    ) -> None:
        self._session = session
        self._route = route
        self._period = RetryPeriod(retry_s, session.control, session.events.notice)
        self._arrived_bytes = state.earlier_bytes
        self.state = state
        self.began_s = session.clock()

    async def outcome_after(self, outcome: TransferOutcome) -> TransferOutcome | None:
        """The outcome of the transfer after that of an attempt; None if it is to be resumed.

        Then the path is back, and `state` is that of the next attempt.
        """
        arrived_bytes = self.state.arrived_bytes
        self._period.lost(had_arrived=arrived_bytes > self._arrived_bytes)
        self._arrived_bytes = max(arrived_bytes, self._arrived_bytes)
        if not outcome.may_pass or self._arrived_bytes == self.state.earlier_bytes:
            return outcome
        again = await self._period.wait_until_back(self._reconnect)
        if again is None:
            return stopped(outcome) if self._session.control.stop.is_set() else outcome
        self.state = again
        return None

    async def _reconnect(self) -> TransferState:
        """Reconnect to the destination, and check what has arrived there. Raises PeerError."""
        session, before = self._session, self.state
        await session.far_end.connect()
        [group] = before.groups
        done = await session.done(before.journal)
        again = TransferState(
            [FileGroup(group.name, group.files, done=done, whole=group.whole)],
            before.journal,
            before.exclusions,
        )
        again.earlier_bytes = before.earlier_bytes
        return again
