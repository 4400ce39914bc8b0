"""Two profiles compared: the settings that changed, and what differs between the hosts."""

from collections.abc import Iterable

from rich.text import Text
from textual import work
from textual.content import Content
from textual.widget import Widget

from advisor.models.profile_comparison import ProfileComparison, compare_profiles
from advisor.report.profile import head_lines
from advisor.report.profile_comparison import (
    CHANGE_COLUMNS,
    FACT_COLUMNS,
    by_size,
    change_row,
    fact_rows,
    summary_lines,
)
from advisor.store.profiles import StoredProfile
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.page import Page


class ChangesScreen(Page):
    """The same as `advisor profile compare --all`."""

    NAME = "Compare"
    HELP = (
        "[b]Two profiles[/b]\nEach setting that both measured at least twice is tested, and the "
        "results are adjusted for their number: at most 5 % of those called changed are expected "
        "to be chance. What else changed in between is not known."
    )
    DEFAULT_CSS = """
    ChangesScreen Static { height: auto; padding: 0 1; }
    """

    def __init__(self, before: StoredProfile, after: StoredProfile) -> None:
        super().__init__()
        self._before, self._after = before, after

    def trail(self) -> Content:
        names = f"{self._before.record.name} and {self._after.record.name}"
        return Content.assemble(("Profiles › ", "dim"), (names, "bold"))

    def content(self) -> Iterable[Widget]:
        heads = [head_lines(one)[0] for one in (self._before, self._after)]
        yield Static(Content("\n".join(heads)))
        yield Static("Comparing …", id="summary")
        yield RowTable("Settings that both measured", *CHANGE_COLUMNS, id="changes")
        facts = RowTable("What differs between the hosts and paths", *FACT_COLUMNS)
        rows = fact_rows(self._before.record.path, self._after.record.path)
        facts.fill([(str(i), tuple(map(Text, row))) for i, row in enumerate(rows)])
        facts.display = bool(rows)
        yield facts

    def on_mount(self) -> None:
        self.query_one("#changes").display = False
        self._compare()

    @work(thread=True)
    def _compare(self) -> None:
        # In a thread: the library of statistics takes seconds to load.
        found = compare_profiles(self._before.rates_bps, self._after.rates_bps)
        draw_from_thread(self, self._take, found)

    def _take(self, comparison: ProfileComparison) -> None:
        self.query_one("#summary", Static).update(Content("\n".join(summary_lines(comparison))))
        rows = [change_row(one) for one in by_size(comparison, all_cells=True)]
        changes = self.query_one("#changes", RowTable)
        changes.fill([(str(i), tuple(map(Text, row))) for i, row in enumerate(rows)])
        changes.display = bool(rows)
