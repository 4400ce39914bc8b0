"""The lifecycle of a session: it runs once, and its failures become an event and an exit code."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from advisor.agent.peer_errors import PeerError
from advisor.domain import events as ev
from advisor.domain.problem import Problem, ProblemKind, problem_of
from advisor.runtime.control import Control
from advisor.runtime.events import EventEmitter, Publish
from advisor.runtime.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PEER, EXIT_USAGE
from advisor.runtime.session_id import new_session_id
from advisor.runtime.stop import Stopped, unless_stopped
from advisor.store.errors import StoreError
from advisor.store.history import Store

_EXIT_CODES: Final[Mapping[type[Exception], int]] = {
    PeerError: EXIT_PEER,
    StoreError: EXIT_FAILED,
    ValueError: EXIT_USAGE,
}


class Session(ABC):
    """One session, from its request to its last event. It runs once.

    `exit_codes`: further exceptions that end this kind of session, with its exit code for each.
    """

    exit_codes: ClassVar[Mapping[type[Exception], int]] = {}
    stopped_message: ClassVar[str] = "stopped"

    def __init__(
        self, store: Store, publish: Publish, control: Control, session_id: str | None = None
    ) -> None:
        """`session_id`: that of a session to resume, None for a new one."""
        self.id = session_id or new_session_id()
        self.store = store
        self.control = control
        self.clock = asyncio.get_running_loop().time
        self.events = EventEmitter(publish, self.clock)
        self.ends_itself = False
        """Whether the session reacts to the order to stop. Until it does, it is just cancelled."""

    @abstractmethod
    async def _run(self) -> int:
        """The work of the session; returns its exit code."""

    async def _close(self) -> None:
        """Release what the session holds. Called once, on every way out; extend it."""
        self.events.close()

    async def run(self) -> int:
        """Run the session; returns its exit code. A failure is reported by the event `gave_up`."""
        fatal = {**_EXIT_CODES, **self.exit_codes}
        try:
            return await unless_stopped(
                self._run(), self.control.stop, may_cancel=lambda: not self.ends_itself
            )
        except Stopped:
            return self.give_up(
                Problem(kind=ProblemKind.STOPPED, reason=self.stopped_message), EXIT_INTERRUPTED
            )
        except tuple(fatal) as error:
            code = next(fatal[kind] for kind in type(error).__mro__ if kind in fatal)
            return self.give_up(problem_of(error), code)
        finally:
            await asyncio.shield(self._close())

    def give_up(self, problem: Problem, exit_code: int) -> int:
        """Emit the last event of a session without a result; returns the exit code."""
        self.events.emit(ev.GaveUp, message=str(problem), exit_code=exit_code, problem=problem)
        return exit_code
