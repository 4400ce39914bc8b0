"""Checks a path by running `advisor path` as a child. It sends no load."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from advisor.domain.events import HistoryFound
from advisor.domain.problem import Problem, ProblemError
from advisor.runtime.advisor_child import AdvisorChild
from advisor.tui.features.advising.draft import Draft, PathSeen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.kit.open_history import OpenHistory

UNCHECKED: Final = "without an agent the path is looked at when the measurement starts"


class CheckFailed(ProblemError):
    """The check of a path cannot be run, or ended without saying why as data."""


class PathCheck:
    """Starts when constructed. `changed` is called after each update of `model`, and at the end.

    `reach`: the draft's arguments it was started with. `trouble`: why it failed, if it did.
    """

    def __init__(
        self,
        draft: Draft,
        history: OpenHistory,
        changed: Callable[[], None],
        *,
        watch: bool = False,
    ) -> None:
        self.reach = draft.reach_arguments()
        self.model = SessionModel()
        self.trouble: Problem | None = None
        self._draft = draft
        self._changed = changed
        words = ["--json", *history.arguments, *(["--watch"] if watch else [])]
        self._reading = asyncio.create_task(self._read(["path", *words, *self.reach]))

    @property
    def is_running(self) -> bool:
        """Whether it is still running."""
        return not self._reading.done()

    async def _read(self, arguments: list[str]) -> None:
        child: AdvisorChild | None = None
        try:
            child = await AdvisorChild.start(arguments)
            async for event in child.events():
                self.model.apply(event)
                if isinstance(event, HistoryFound):
                    self._keep()
                self._changed()
            _, said = await child.ended()
            if self.model.path is None:
                self.trouble = self._reason(said.removeprefix("advisor: "))
        except OSError as error:
            self.trouble = CheckFailed.about("the path cannot be checked", error).problem
        finally:
            if child:
                await asyncio.shield(child.close(at_once=True))
        asyncio.get_running_loop().call_soon(self._changed)

    def _reason(self, said: str) -> Problem:
        given_up = self.model.gave_up
        if given_up and given_up.problem:
            return given_up.problem
        words = given_up.message if given_up else said
        return CheckFailed(words or "it ended without a message").problem

    def _keep(self) -> None:
        if self.model.path:
            self._draft.seen = PathSeen(
                reach=self.reach, path=self.model.path, past=self.model.past
            )

    async def close(self) -> None:
        """Stop it at once."""
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading
