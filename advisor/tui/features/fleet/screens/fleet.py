"""Fleet: the matrix of all pairs, who measures, and what hinders."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import ScreenResume
from textual.widget import Widget
from textual.widgets import DataTable, Input

from advisor.fleet.state.followed import FollowedPairs
from advisor.fleet.state.standing import PairStanding
from advisor.store.errors import StoreError
from advisor.tui.features.fleet.looking import FleetView, fleet_view
from advisor.tui.features.fleet.matrix import MOST_HOSTS, PairMatrix
from advisor.tui.features.fleet.screens.pair import PairScreen
from advisor.tui.features.fleet.texts import fleet_words, pair_words, trouble_words
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.panels.text_panel import TextPanel
from advisor.tui.kit.static import Static
from advisor.tui.page import Page

_POLL_S: Final = 5.0


class FleetScreen(Page):
    """The fleet of this history, read again every few seconds."""

    NAME = "Fleet"
    HELP = (
        "[b]Fleet[/b]\nWhat each pair of the fleet reached when it was measured last. Workers "
        "([b]advisor fleet work[/b]) measure the pairs in turn, and this screen changes nothing."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "ages", "Throughput / age", id="fleet-ages"),
        Binding("m", "task", "Next measure", id="fleet-measure"),
        Binding("slash", "filter", "Filter hosts", key_display="/", id="fleet-filter"),
    ]
    DEFAULT_CSS = """
    FleetScreen #body { overflow-y: hidden; }
    FleetScreen #how { height: auto; max-height: 6; padding: 0 1; }
    FleetScreen Input { height: 1; display: none; }
    FleetScreen Input.-shown { display: block; }
    FleetScreen #pair { height: 6; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._view: FleetView | None = None
        self._measure = ""
        self._ages = False
        self._is_looking = False
        self._followed = FollowedPairs()

    def content(self) -> Iterable[Widget]:
        yield Static("Reading …", id="how")
        yield Input(placeholder="hosts whose names contain this", compact=True)
        yield PairMatrix()
        yield TextPanel(id="pair")

    def on_mount(self) -> None:
        self.query_one("#pair", TextPanel).set_title("Pair")
        self.query_one(PairMatrix).focus()
        self.every(_POLL_S, self._poll)

    def on_screen_resume(self, _: ScreenResume) -> None:
        self._poll()

    def _poll(self) -> None:
        if self.app.screen is self and not self._is_looking:
            self._is_looking = True
            self._look()

    @work(thread=True, group="fleet")
    def _look(self) -> None:
        try:
            draw = partial(self._take, fleet_view(self.advisor.history.argument, self._followed))
        except StoreError as error:
            draw = partial(self._fail, str(error))
        draw_from_thread(self, draw)

    def _fail(self, sentence: str) -> None:
        self._is_looking = False
        self.query_one("#how", Static).update(trouble_words(sentence))

    def _take(self, view: FleetView) -> None:
        self._is_looking = False
        self._view = view
        if self._measure not in view.tasks:
            self._measure = view.tasks[0]
        self.query_one("#how", Static).update(fleet_words(view.standing))
        self._draw()

    def _draw(self) -> None:
        if self._view is None:
            return
        word = self.query_one(Input).value.strip().lower()
        shown = [one for one in self._view.pairs if one.task == self._measure and _has(one, word)]
        matrix = self.query_one(PairMatrix)
        matrix.show(shown, self._view.standing.now_s, ages=self._ages)
        hosts = {host for one in shown for host in (one.source, one.destination)}
        more = f", {MOST_HOSTS} of {len(hosts):,} hosts" if len(hosts) > MOST_HOSTS else ""
        matrix.border_subtitle = Content(f"{self._measure}{more}")
        self._draw_pair()

    def _draw_pair(self) -> None:
        chosen = self.query_one(PairMatrix).chosen
        words = Content("Nothing is measured between these two.")
        if chosen and self._view:
            words = pair_words(chosen, self._view.standing.now_s)
        self.query_one("#pair", TextPanel).fill(words)

    def on_data_table_cell_highlighted(self) -> None:
        self._draw_pair()

    def on_data_table_cell_selected(self, event: DataTable.CellSelected) -> None:
        """Show what became of the chosen pair."""
        event.stop()
        if (chosen := self.query_one(PairMatrix).chosen) and self._view:
            self.advisor.open(PairScreen(chosen, self._view.standing.now_s))

    def on_input_changed(self) -> None:
        self._draw()

    def on_input_submitted(self) -> None:
        self.query_one(PairMatrix).focus()

    def action_filter(self) -> None:
        """Show the hosts whose names contain a word; Enter goes to the matrix, Escape shows all."""
        line = self.query_one(Input)
        line.add_class("-shown")
        line.focus()

    def action_back(self) -> None:
        line = self.query_one(Input)
        if line.has_class("-shown"):
            line.value = ""
            line.remove_class("-shown")
            self.query_one(PairMatrix).focus()
        else:
            super().action_back()

    def action_ages(self) -> None:
        """Toggle between throughputs and ages."""
        self._ages = not self._ages
        self._draw()

    def action_task(self) -> None:
        """Show the next of the fleet's measures."""
        if self._view is None or len(self._view.tasks) < 2:
            self.advisor.refuse("this fleet has no other measure")
            return
        tasks = self._view.tasks
        self._measure = tasks[(tasks.index(self._measure) + 1) % len(tasks)]
        self._draw()


def _has(pair: PairStanding, word: str) -> bool:
    return word in pair.source.lower() or word in pair.destination.lower()
