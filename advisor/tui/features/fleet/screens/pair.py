"""One pair of a fleet: what it reached over time, and what became of each attempt."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.fleet.state.rows import Attempt
from advisor.fleet.state.standing import PairStanding
from advisor.report.fleet_status import ATTEMPT_COLUMNS
from advisor.store.errors import StoreError
from advisor.tui.features.fleet.looking import attempts
from advisor.tui.features.fleet.texts import (
    attempt_rows,
    curve_words,
    pair_words,
    trouble_words,
)
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.page import Page
from advisor.tui.screens import screen_named


class PairScreen(Page):
    """`pair` as it stood at `now_s`."""

    NAME = "Pair"
    HELP = (
        "[b]A pair of the fleet[/b]\nIts measurements, the newest first: done, failed, given way "
        "to a user who measures there, or given back by a worker that ended."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "sessions", "Its sessions", id="pair-sessions"),
    ]
    DEFAULT_CSS = """
    PairScreen #about, PairScreen #curve { height: auto; padding: 0 1; margin-bottom: 1; }
    PairScreen RowTable { height: 1fr; max-height: 100%; }
    """

    def __init__(self, pair: PairStanding, now_s: float) -> None:
        super().__init__()
        self._pair, self._now_s = pair, now_s
        self._attempts: Sequence[Attempt] = ()

    def content(self) -> Iterable[Widget]:
        yield Static(pair_words(self._pair, self._now_s), id="about")
        yield Static("Reading …", id="curve")
        yield RowTable("Measurements", *map(str.capitalize, ATTEMPT_COLUMNS))

    def on_mount(self) -> None:
        self.query_one(RowTable).focus()
        self._look()

    @work(thread=True, group="fleet")
    def _look(self) -> None:
        try:
            draw = partial(self._take, attempts(self.advisor.history.argument, self._pair))
        except StoreError as error:
            draw = partial(self._say, trouble_words(str(error)))
        draw_from_thread(self, draw)

    def _say(self, words: Content) -> None:
        self.query_one("#curve", Static).update(words)

    def _take(self, found: Sequence[Attempt]) -> None:
        self._attempts = found
        table = self.query_one(RowTable)
        table.set_title("Measurements", str(len(found)))
        table.fill(attempt_rows(found))
        self._draw_curve()

    def _draw_curve(self) -> None:
        self._say(curve_words(self._attempts, self.size.width - 2))

    def on_resize(self) -> None:
        if self._attempts:
            self._draw_curve()

    def action_sessions(self) -> None:
        """Review the sessions of this pair."""
        if not self._pair.stored_source:
            self.advisor.refuse("no session of this pair is stored yet")
            return
        words = f"{self._pair.stored_source} {self._pair.stored_destination}"
        self.advisor.open(screen_named("review", words))
