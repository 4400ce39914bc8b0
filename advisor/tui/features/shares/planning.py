"""Plans for the present requests, made in a thread."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from advisor.domain.shares import Asked, SharePlan
from advisor.tui.features.shares.board import Board
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.page import Page

if TYPE_CHECKING:
    from advisor.tui.features.shares.forecasts import Learned

_AFTER_S: Final = 0.1


class Planning:
    """Keeps the plan of `board` up to date for a `page`.

    `ended`: the destinations that are not planned for any more. `changed`: called after each plan.
    """

    def __init__(
        self,
        page: Page,
        board: Board,
        ended: Callable[[], set[str]],
        changed: Callable[[], None],
    ) -> None:
        self._page = page
        self._board = board
        self._ended = ended
        self._changed = changed
        self._waiting: Timer | None = None
        self._is_planning = False

    def plan_soon(self) -> None:
        """Plan after a short delay, not at every move of the mouse."""
        if self._waiting is None:
            self._waiting = self._page.set_timer(_AFTER_S, self._begin)

    def _begin(self) -> None:
        """One plan at a time: threads cannot be stopped, and two take twice as long."""
        self._waiting = None
        if self._is_planning:
            self.plan_soon()
            return
        board = self._board
        board.trouble = board.sharing.why_not(board.names)
        ended = self._ended()
        asked = {name: one for name, one in board.asked.items() if name not in ended}
        if board.learned and asked:
            self._is_planning = True
            work = partial(self._make, board.learned, asked)
            self._page.run_worker(work, thread=True, group="plan")
        self._changed()

    def _make(self, learned: "Learned", asked: dict[str, Asked]) -> None:
        from advisor.tui.features.shares.forecasts import plan_of

        made = plan_of(learned, asked)
        draw_from_thread(self._page, self._take, made)

    def _take(self, made: SharePlan | str) -> None:
        self._is_planning = False
        if isinstance(made, SharePlan):
            self._board.plan = made
        else:
            self._board.trouble = self._board.trouble or made
        self._changed()
