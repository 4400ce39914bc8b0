"""One profile: its response maps, boxes by flows, and the confidence of unimodality."""

from collections.abc import Iterable, Iterator

from rich.text import Text
from textual.content import Content
from textual.widget import Widget

from advisor.report.profile import (
    ResponseMap,
    box_title,
    head_lines,
    maps_of,
    rates_by_flows,
)
from advisor.report.unimodality import unimodality_tables
from advisor.store.profiles import StoredProfile
from advisor.tui.features.advising.widgets.boxes import Box
from advisor.tui.features.advising.widgets.flow_boxes import FlowBoxes
from advisor.tui.features.advising.widgets.legend import colour_of
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.page import Page

_BELOW_MAPS = "Medians; ± is half the range of the repeats, * the highest of its map."
_BELOW_SHARES = (
    "How often d repeats of every w-th number of flows have a single maximum (Rao et al. 2016): "
    "only then does a search find it by comparing neighbours."
)


class ProfileScreen(Page):
    """The same as `advisor profile show`, with the boxes drawn."""

    NAME = "Profile"
    HELP = (
        "[b]A profile[/b]\nMaps: what each setting reached, flows down. Boxes: all measurements "
        "with the same number of flows. Last, how often the throughput had a single maximum in "
        "the number of flows. Tab goes from one to the next."
    )
    DEFAULT_CSS = """
    ProfileScreen #head, ProfileScreen .below { height: auto; padding: 0 1; }
    ProfileScreen .below { color: $foreground-muted; margin-bottom: 1; }
    ProfileScreen FlowBoxes { height: 14; }
    """

    AUTO_FOCUS = ""

    def __init__(self, profile: StoredProfile) -> None:
        super().__init__()
        self._profile = profile

    def trail(self) -> Content:
        return Content.assemble(("Profiles › ", "dim"), (self._profile.record.name, "bold"))

    def content(self) -> Iterable[Widget]:
        yield Static(Content("\n".join(head_lines(self._profile))), id="head")
        for one in maps_of(self._profile):
            yield _map_table(one)
        yield Static(_BELOW_MAPS, classes="below")
        for _ in rates_by_flows(self._profile):
            yield FlowBoxes()
        shares = list(_share_tables(self._profile))
        yield from shares
        if shares:
            yield Static(_BELOW_SHARES, classes="below")

    def on_mount(self) -> None:
        by_flows = rates_by_flows(self._profile).items()
        for chart, ((subject, congestion), rates) in zip(
            self.query(FlowBoxes), by_flows, strict=True
        ):
            boxes = [Box(flows, tuple(found)) for flows, found in rates.items()]
            setting = next(dict(key) for of, key in self._profile.rates_bps if of == subject)
            chart.show_boxes(box_title(subject, congestion), boxes, colour_of(subject), setting)


def _map_table(one: ResponseMap) -> RowTable:
    table = RowTable(one.title, *one.columns)
    rows = [
        (str(i), tuple(Text(cell, _map_style(one, i, j)) for j, cell in enumerate(cells)))
        for i, cells in enumerate(one.rows)
    ]
    table.fill(rows)
    return table


def _map_style(one: ResponseMap, row: int, column: int) -> str:
    return "bold" if one.best == (row, column - 1) else ""


def _share_tables(profile: StoredProfile) -> Iterator[RowTable]:
    for title, columns, rows in unimodality_tables(profile):
        table = RowTable(title, *columns)
        table.fill([(row[0], tuple(map(Text, row))) for row in rows])
        yield table
