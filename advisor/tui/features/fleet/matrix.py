"""The pairs of a fleet as a heat map: from the host of a row to that of a column."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from rich.style import Style
from rich.text import Text
from textual.color import Color
from textual.theme import Theme
from textual.widgets import DataTable

from advisor.fleet.state.standing import PairStanding
from advisor.tui.kit.charts.axis import rate_unit
from advisor.tui.kit.charts.heat import shade
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.times import age_words

MOST_HOSTS: Final = 100
"""Rows and columns that are drawn; a filter finds the others."""

_CELL: Final = 6


class PairMatrix(Titled, DataTable[Text]):
    """`show` the pairs of one task."""

    HELP: ClassVar[str | None] = """[b]The pairs of the fleet[/b]
Each row is a source, each column a destination. The greener a cell, the higher the throughput
(or, with key a, the more recent the measurement). ✗ failed since it was last measured, ? was never
measured, ! has changed. Enter opens a pair."""
    DEFAULT_CSS = (
        f"PairMatrix {{ {PANEL_CSS} }}"
        + """
    PairMatrix { height: 1fr; background: $background; }
    PairMatrix > .datatable--header { background: $background; color: $default; text-style: none; }
    """
    )

    def __init__(self) -> None:
        super().__init__(cursor_type="cell", zebra_stripes=False, fixed_columns=1, cell_padding=0)
        self.set_title("Pairs")
        self._pairs: dict[tuple[str, str], PairStanding] = {}
        self._drawn: object = None

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._retheme)

    def _retheme(self, _: Theme) -> None:
        self._drawn = None

    def show(self, pairs: Sequence[PairStanding], now_s: float, *, ages: bool) -> None:
        """Draw the cells, where something changed. `ages`: how old each is, not its throughput."""
        wanted = pairs, ages, int(now_s // 60) if ages else 0
        if wanted == self._drawn:
            return
        self._drawn = wanted
        self._pairs = {(one.source, one.destination): one for one in pairs}
        sources = sorted({one.source for one in pairs})[:MOST_HOSTS]
        destinations = sorted({one.destination for one in pairs})[:MOST_HOSTS]
        cells = _Cells(pairs, now_s, self.app.theme_variables, ages=ages)
        at = self.cursor_coordinate
        self.clear(columns=True)
        self.add_column(Text("from"), key="")
        for host in destinations:
            self.add_column(Text(f"{host} ".rjust(_CELL)), key=host)
        for source in sources:
            row = [cells.of(self._pairs.get((source, to)), len(to) + 1) for to in destinations]
            self.add_row(Text(f"{source} "), *row, key=source)
        self.move_cursor(row=at.row, column=max(1, at.column))
        self.set_title("Age of the last measurement" if ages else cells.title)

    @property
    def chosen(self) -> PairStanding | None:
        """The pair under the cursor."""
        if not self.is_valid_coordinate(self.cursor_coordinate):
            return None
        row, column = self.coordinate_to_cell_key(self.cursor_coordinate)
        return self._pairs.get((row.value or "", column.value or ""))


class _Cells:
    """Words and shades of the cells of one matrix."""

    def __init__(
        self,
        pairs: Sequence[PairStanding],
        now_s: float,
        variables: Mapping[str, str],
        *,
        ages: bool,
    ) -> None:
        self._now_s, self._variables, self._ages = now_s, variables, ages
        self._top_bps = max((one.rate_bps or 0.0 for one in pairs), default=0.0)
        self._least_rtt_s = min((one.rtt_s for one in pairs if one.rtt_s), default=0.0)
        self._oldest_s = max((self._age_s(one) for one in pairs), default=0.0)
        self._scale, self._unit = rate_unit(self._top_bps)

    @property
    def title(self) -> str:
        """What the figures are."""
        return f"Throughput in {self._unit}" if self._top_bps else "Round-trip time in ms"

    def _age_s(self, one: PairStanding) -> float:
        return max(0.0, self._now_s - one.last_s) if one.last_s is not None else 0.0

    def of(self, one: PairStanding | None, least: int) -> Text:
        """A cell of at least this width."""
        words, style = self._words(one)
        return Text(f"{words} ".rjust(max(_CELL, least)), style)

    def _words(self, one: PairStanding | None) -> tuple[str, Style]:
        if one is None:
            return "·", Style(dim=True)
        if one.failures:
            failed = Color.parse(self._variables["failed"]).rich_color
            return "✗", Style(color=failed, bold=True)
        if one.last_s is None:
            return "?", Style(dim=True)
        words, share = self._aged(one) if self._ages else self._measured(one)
        mark = "!" if one.news == "changed" else ""
        return mark + words, shade(self._variables, share)

    def _aged(self, one: PairStanding) -> tuple[str, float]:
        age_s = self._age_s(one)
        share = 1 - age_s / self._oldest_s if self._oldest_s else 1.0
        return age_words(age_s).replace(" ", ""), share

    def _measured(self, one: PairStanding) -> tuple[str, float]:
        if one.rate_bps is not None and self._top_bps:
            return f"{one.rate_bps / self._scale:.3g}", one.rate_bps / self._top_bps
        if one.rtt_s:
            return f"{1000 * one.rtt_s:.3g}", self._least_rtt_s / one.rtt_s
        return "–", 0.0
