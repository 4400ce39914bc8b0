"""The path or a host away for a while: what is tried until it is back."""

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from advisor.agent.client import PeerError
from advisor.domain.quantities import format_duration
from advisor.runtime.control import Control
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.outcome import TransferOutcome, TransferState, stopped
from advisor.transfer.engine.route import Route
from advisor.transfer.engine.session import TransferSession

RETRY_S: Final = 600.0
"""As long as a host takes to be started anew."""

_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 60.0

_Found = TypeVar("_Found")


class RetryPeriod:
    """How long nothing may arrive before a transfer is given up that was under way."""

    def __init__(self, lasts_s: float, control: Control, tell: Callable[[str], None]) -> None:
        self._lasts_s = lasts_s
        self._control = control
        self._tell = tell
        self._clock = asyncio.get_running_loop().time
        self._pause_s = _FIRST_PAUSE_S
        self._since_s = 0.0

    def lost(self, *, had_arrived: bool) -> None:
        """Nothing gets through now. `had_arrived`: something did since it was last lost."""
        if had_arrived:
            self._since_s, self._pause_s = self._clock(), _FIRST_PAUSE_S

    async def wait_until_back(self, look: Callable[[], Awaitable[_Found]]) -> _Found | None:
        """Look whether it is back, with pauses that grow; what was found then.

        None where time is over, or it was stopped.
        """
        end_s = self._since_s + self._lasts_s
        while self._clock() + self._pause_s <= end_s:
            self._tell(
                f"The path is lost: tried again in {format_duration(self._pause_s)}, for up to "
                f"{format_duration(end_s - self._clock())}."
            )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause_s):
                    await self._control.stop.wait()
                    return None
            self._pause_s = min(_LONGEST_PAUSE_S, 2 * self._pause_s)
            with contextlib.suppress(PeerError):
                return await look()
        return None


async def move_with_retry(
    session: TransferSession,
    route: Route,
    state: TransferState,
    retry_s: float,
    move: Callable[[TransferState, float], Awaitable[TransferOutcome]],
) -> TransferOutcome:
    """See `move` to its end, begun again where the path was lost for a while.

    The first time the path has to be there. `move` is given its one portion, and when the first of
    them began by the event loop's clock.
    """
    patience = RetryPeriod(retry_s, session.control, session.events.notice)
    began_s, earlier_bytes = asyncio.get_running_loop().time(), state.earlier_bytes
    arrived_bytes = earlier_bytes
    while True:
        outcome = await move(state, began_s)
        patience.lost(had_arrived=state.arrived_bytes > arrived_bytes)
        arrived_bytes = max(arrived_bytes, state.arrived_bytes)
        if not outcome.may_pass or arrived_bytes == earlier_bytes:
            return outcome
        again = await patience.wait_until_back(
            functools.partial(_look_again, session, route, state)
        )
        if again is None:
            return stopped(outcome) if session.control.stop.is_set() else outcome
        state = again


async def _look_again(
    session: TransferSession, route: Route, state: TransferState
) -> TransferState:
    """Reach the destination anew, and see what has arrived there. Raises PeerError."""
    await session.far_end.connect()
    [group] = state.groups
    done = await session.done(state.journal, route, group.files)
    again = TransferState(
        [FileGroup(group.name, group.files, done=done)], state.journal, session.unreadable
    )
    again.earlier_bytes = state.earlier_bytes
    return again
