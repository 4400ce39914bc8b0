"""Throughput against the round-trip time: of this host's history, or of some profiles."""

import socket
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from advisor.domain.records import ProbeRecord
from advisor.report.rtt_profile import (
    RttProfile,
    places_of,
    places_of_history,
    rtt_columns,
    rtt_lines,
    rtt_profile,
    rtt_rows,
)
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.profiles import StoredProfile, reference_profiles
from advisor.tui.features.profiles.widgets.rtt_chart import RttChart, panels_of
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.panels.text_panel import TextPanel
from advisor.tui.kit.sentences import capitalised
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.page import Page

_NOTHING: Final = (
    "Nothing is stored with its round-trip time. Measure some destinations, or a lab: "
    "advisor lab profile. r shows the reference profiles."
)
_HISTORY: Final = "this host's history: each destination at its RTT"
_REFERENCE: Final = "reference profiles, measured on emulated paths of one machine"


class RttScreen(Page):
    """`profiles`: those to show; None for the history of this host."""

    NAME = "Throughput against the RTT"
    HELP = (
        "[b]Throughput against the round-trip time[/b]\nWhat is reached at which distance. Each "
        "number of flows is shown with the setting that is best there. c shows another transport "
        "or congestion control, r the reference profiles instead of your own history."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c,right", "panel(1)", "Next curves", key_display="c", id="next-curves"),
        Binding("left", "panel(-1)", "Curves before", show=False, id="curves-before"),
        Binding("r", "reference", "Reference / own", id="reference"),
    ]
    DEFAULT_CSS = """
    RttScreen #of { height: 1; padding: 0 1; color: $foreground-muted; }
    RttScreen RttChart { height: 1fr; min-height: 12; }
    RttScreen #table { max-height: 14; }
    RttScreen #meaning { height: auto; max-height: 8; }
    RttScreen.-low #meaning { max-height: 5; }
    RttScreen #curves { height: auto; min-height: 100%; }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (40, "-high")]  # noqa: RUF012  # as Textual declares it

    def __init__(self, profiles: Sequence[StoredProfile] | None = None) -> None:
        super().__init__()
        self._profiles = profiles
        self._reference = False
        self._found: RttProfile | None = None
        self._titles: list[str] = []
        self._panel = 0

    def content(self) -> Iterable[Widget]:
        yield Static("Reading …", id="of")
        with Vertical(id="curves"):
            yield RttChart()
            yield RowTable("Medians and quartiles", id="table")
            yield TextPanel(id="meaning")

    def on_mount(self) -> None:
        self.query_one("#meaning", TextPanel).set_title("What it shows")
        self.query_one("#curves").display = False
        self.call_after_refresh(self._load)

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        try:
            with self.advisor.history.store() as store:
                found = rtt_profile(self._places(store))
        except StoreError as error:
            draw = partial(self._say, capitalised(str(error)))
        else:
            draw = partial(self._take, found)
        draw_from_thread(self, draw)

    def _places(self, store: Store) -> Iterable[tuple[float, Sequence[ProbeRecord]]]:
        if self._reference:
            return places_of(reference_profiles(store))
        if self._profiles is not None:
            return places_of(self._profiles)
        return places_of_history(store, socket.gethostname())

    def _say(self, words: str) -> None:
        self.query_one("#of", Static).update(Content(words))

    def _of_words(self) -> str:
        if self._reference:
            return _REFERENCE
        if self._profiles is not None:
            return ", ".join(one.record.name for one in self._profiles)
        return _HISTORY

    def _take(self, found: RttProfile) -> None:
        self._found, self._titles = found, list(panels_of(found))
        self.query_one("#curves").display = bool(self._titles)
        if not self._titles:
            self._say(_NOTHING)
            return
        self._panel = min(self._panel, len(self._titles) - 1)
        self._say(self._of_words())
        table = self.query_one("#table", RowTable)
        table.fill([(row[0], tuple(map(Text, row))) for row in rtt_rows(found)], rtt_columns(found))
        self.query_one("#meaning", TextPanel).fill(Content("\n".join(rtt_lines(found))))
        self._draw()

    def _draw(self) -> None:
        if self._found and self._titles:
            self.query_one(RttChart).show_panel(self._found, self._titles[self._panel])

    def action_panel(self, by: int) -> None:
        """Show the curves of another transport or congestion control."""
        if self._titles:
            self._panel = (self._panel + by) % len(self._titles)
            self._draw()

    def action_reference(self) -> None:
        """Show the reference profiles, or the user's own again."""
        self._reference = not self._reference
        self._panel = 0
        self._say("Reading …")
        self._load()
