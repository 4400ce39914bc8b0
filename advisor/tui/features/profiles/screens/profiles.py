"""Profiles: the user's own and the reference profiles, to look at and to compare."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.report.profile import LIST_COLUMNS, list_row
from advisor.store.errors import StoreError
from advisor.store.profiles import StoredProfile, stored_profiles
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.marked import marked
from advisor.tui.kit.sentences import capitalised
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.page import Page

_ROOM_FROM: Final = {"pair": 140, "begun": 100}
"""The width from which a terminal has room for a column."""
_NOTHING: Final = marked(
    "No profile is stored. Measure one with [b]advisor profile HOST[/b], or "
    "[b]advisor lab profile[/b] on emulated paths."
)


class ProfilesScreen(Page):
    """The list. Two that are marked are compared; all that are marked are put at their RTTs."""

    NAME = "Profiles"
    HELP = (
        "[b]Profiles[/b]\nA profile is what a whole grid of settings reached on a path. Enter "
        "shows one, Space marks it, b compares two that are marked. t shows the throughput "
        "against the round-trip time: of the marked profiles, else of your whole history. "
        "Reference profiles come with the program. They were measured on emulated paths, and "
        "cannot be deleted."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "Mark", id="mark-profile"),
        Binding("b", "compare", "Compare two", id="compare-profiles"),
        Binding("t", "rtt", "Against the RTT", id="against-rtt"),
    ]
    DEFAULT_CSS = """
    ProfilesScreen #nothing { height: auto; padding: 0 1; display: none; }
    ProfilesScreen RowTable { height: 1fr; max-height: 100%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._profiles: dict[str, StoredProfile] = {}
        self._marked: set[str] = set()

    def content(self) -> Iterable[Widget]:
        yield Static(_NOTHING, id="nothing")
        yield RowTable("Profiles", "", *LIST_COLUMNS)

    def on_mount(self) -> None:
        self.query_one(RowTable).focus()

    def on_screen_resume(self) -> None:
        """Reload: the list may have changed while another screen was shown."""
        self.call_after_refresh(self._load)

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        try:
            with self.advisor.history.store() as store:
                found = stored_profiles(store)
        except StoreError as error:
            draw = partial(self._say, capitalised(str(error)))
        else:
            draw = partial(self._take, found)
        draw_from_thread(self, draw)

    def _say(self, words: str | Content) -> None:
        nothing = self.query_one("#nothing", Static)
        nothing.update(words)
        nothing.display = bool(words)

    def _take(self, found: list[StoredProfile]) -> None:
        self._profiles = {f"{one.shipped} {one.record.session}": one for one in found}
        self._marked &= set(self._profiles)
        self._say("" if found else _NOTHING)
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.size.width
        shown = [i for i, name in enumerate(LIST_COLUMNS) if width >= _ROOM_FROM.get(name, 0)]
        rows = []
        for key, profile in self._profiles.items():
            cells = list_row(profile)
            mark = "●" if key in self._marked else ""
            style = "dim" if profile.shipped else ""
            rows.append((key, (Text(mark), *(Text(cells[i], style) for i in shown))))
        table = self.query_one(RowTable)
        table.set_title("Profiles", f"{len(self._marked)} marked" if self._marked else "")
        table.fill(rows, ("", *(LIST_COLUMNS[i] for i in shown)))

    @property
    def _meant(self) -> list[StoredProfile]:
        """The marked profiles, in the order of the list."""
        return [one for key, one in self._profiles.items() if key in self._marked]

    def on_data_table_row_selected(self) -> None:
        """Show the chosen profile."""
        from advisor.tui.features.profiles.screens.profile import ProfileScreen

        if chosen := self._profiles.get(self.query_one(RowTable).chosen):
            self.advisor.open(ProfileScreen(chosen))

    def action_mark(self) -> None:
        """Toggle the mark of the chosen profile, and move to the next."""
        table = self.query_one(RowTable)
        if key := table.chosen:
            self._marked ^= {key}
            self._draw()
            table.action_cursor_down()

    def action_compare(self) -> None:
        """Compare the two that are marked: the older one is the first."""
        from advisor.tui.features.profiles.screens.changes import ChangesScreen

        if len(self._meant) != 2:
            self.advisor.refuse("two profiles are compared: mark two with Space")
            return
        before, after = sorted(self._meant, key=lambda one: one.record.recorded_s)
        self.advisor.open(ChangesScreen(before, after))

    def action_rtt(self) -> None:
        """Show the throughput of the marked profiles, or the history, against the RTT."""
        from advisor.tui.features.profiles.screens.rtt import RttScreen

        self.advisor.open(RttScreen(self._meant or None))
