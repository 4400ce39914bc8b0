"""Throughputs as a table of bars on one axis from zero, each with its 90 % interval."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from advisor.domain.quantities import format_rate
from advisor.tui.kit.charts.axis import ticks
from advisor.tui.kit.charts.bar_scale import BarScale, axis_end
from advisor.tui.kit.charts.theme_style import theme_style
from advisor.tui.kit.sentences import shortened

BarKind = Literal["advised", "measured", "default", "past", "limit", "joint"]


class _Glyphs(NamedTuple):
    fill: str
    past: str
    left: str
    middle: str
    right: str
    point: str
    mark: str
    beyond: str
    line: str


_GLYPHS: Final = _Glyphs("█", "▒", "├", "─", "┤", "●", "▶", "»", "┊")
_MARKED: Final = ("advised", "limit")
_COLOURS: Final = {"advised": "advised", "joint": "advised", "limit": "act", "default": "default"}
"""Of kinds that have a colour of their own; the others have that of the bar."""

_TICK_COLUMNS: Final = 14
_NAME_COLUMNS: Final = 24
_LEAST_BAR_COLUMNS: Final = 16
_AMPLE_BAR_COLUMNS: Final = 60
_LEAST_WIDTH: Final = 20
_GAP: Final = "  "
_VERDICT: Final = "Verdict"
_BOLD: Final = Style(bold=True)


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar. `interval_bps` is None for a single probe or a result from history.

    `name` says what it is, `detail` its setting, and `brief` the same for less room. `verdict`: a
    few words to the right of it. `colour`: a role of the theme.
    """

    name: str
    detail: str
    value_bps: float
    brief: str = ""
    interval_bps: tuple[float, float] | None = None
    kind: BarKind = "measured"
    verdict: str = ""
    colour: str = "blue"

    @property
    def reach_bps(self) -> float:
        """Its right end."""
        return max(self.value_bps, self.interval_bps[1] if self.interval_bps else 0.0)


class _Columns(msgspec.Struct, frozen=True):
    """The widths of the columns in cells, and whether settings are written in full."""

    name: int
    setting: int
    figure: int
    bar: int
    verdict: int
    in_full: bool


class IntervalBars(Widget, can_focus=True):
    """Bars, one row each, sorted by value if `best_first`. `show` fills it.

    `top_bps`: the end of the axis, if not that of the longest bar; a longer bar ends in an arrow.
    `unit_of_bps`: the rate whose unit all figures have, if not the longest bar. `heading`: what the
    rows are.
    """

    HELP = (
        "[b]Bars[/b] Each row is one setting; the length of its bar is the mean throughput, from "
        "zero. The bracket around its end is the 90 % interval of the mean: where two brackets "
        "hardly overlap, the difference is significant."
    )
    DEFAULT_CSS = """
    IntervalBars { height: auto; width: 1fr; margin-bottom: 1; }
    IntervalBars:focus { background-tint: $foreground 5%; }
    """

    def __init__(
        self,
        bars: Sequence[Bar] = (),
        *,
        best_first: bool = True,
        top_bps: float | None = None,
        unit_of_bps: float | None = None,
        heading: str = "Setting",
    ) -> None:
        super().__init__()
        self._best_first = best_first
        self._top_bps = top_bps
        self._unit_of_bps = unit_of_bps
        self._heading = heading
        self.border_title = "Bars"
        self._bars: list[Bar] = []
        self.show(bars)

    def show(self, bars: Sequence[Bar]) -> None:
        """Draw these."""
        self._bars = sorted(bars, key=lambda bar: -bar.value_bps if self._best_first else 0.0)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._bars) + 1 if self._bars else 0

    def render(self) -> Text:
        width = self.size.width
        if not self._bars or width < _LEAST_WIDTH:
            return Text("")
        values = [bar.value_bps for bar in self._bars]
        top_bps = self._top_bps or axis_end(values, [bar.reach_bps for bar in self._bars])
        unit_of_bps = self._unit_of_bps or max(values)
        widths = self._columns(width, BarScale(unit_of_bps, top_bps, width))
        scale = BarScale(unit_of_bps, top_bps, widths.bar)
        rows = [self._header(widths, scale), *(self._row(b, widths, scale) for b in self._bars)]
        return Text("\n", no_wrap=True, overflow="ellipsis", end="").join(rows)

    def _columns(self, width: int, scale: BarScale) -> _Columns:
        """The widths of the columns: settings are written in full where the bars stay long."""
        name = min(_NAME_COLUMNS, max(cell_len(bar.name) for bar in self._bars))
        figure = max(map(cell_len, (scale.unit, *(scale.figure(b.value_bps) for b in self._bars))))
        verdict = max(cell_len(bar.verdict) for bar in self._bars)
        verdict = max(verdict, len(_VERDICT)) if verdict else 0
        # The mark with a blank, and the gaps between the columns.
        left = width - 2 - name - figure - verdict - len(_GAP) * (4 if verdict else 3)
        setting = max(cell_len(bar.detail) for bar in self._bars)
        in_full = left - setting >= _AMPLE_BAR_COLUMNS
        if not in_full:
            brief = max(cell_len(self._setting(bar, in_full=False)) for bar in self._bars)
            setting = min(brief, max(0, left - _LEAST_BAR_COLUMNS))
        return _Columns(name, setting, figure, max(1, left - setting), verdict, in_full)

    def _setting(self, bar: Bar, *, in_full: bool) -> str:
        """Its setting, in brief unless another one has the same brief form."""
        alike = {other.detail for other in self._bars if other.brief == bar.brief}
        return bar.detail if in_full or not bar.brief or len(alike) > 1 else bar.brief

    def _header(self, widths: _Columns, scale: BarScale) -> Text:
        ruler = [" "] * widths.bar
        free = 0
        for column, figure in scale.ticks():
            begin = min(max(0, column - len(figure) // 2), widths.bar - len(figure))
            if begin >= free:
                ruler[begin : begin + len(figure)] = figure
                free = begin + len(figure) + 1
        words = set_cell_size(f"  {self._heading}", 2 + widths.name + len(_GAP) + widths.setting)
        figures = f"{_GAP}{scale.unit:>{widths.figure}}{_GAP}{''.join(ruler)}"
        verdict = f"{_GAP}{_VERDICT}" if widths.verdict else ""
        return Text(f"{words}{figures}{verdict}".rstrip(), self._dim)

    def _row(self, bar: Bar, widths: _Columns, scale: BarScale) -> Text:
        style = self._style(bar)
        marked = bar.kind in _MARKED
        name = set_cell_size(shortened(bar.name, widths.name), widths.name)
        setting = shortened(self._setting(bar, in_full=widths.in_full), widths.setting)
        figure = f"{scale.figure(bar.value_bps):>{widths.figure}}"
        row = Text()
        row.append(f"{_GLYPHS.mark if marked else ' '} {name}", style + _BOLD if marked else style)
        row.append(f"{_GAP}{set_cell_size(setting, widths.setting)}", self._dim)
        row.append(f"{_GAP}{figure}", style + _BOLD if marked else _BOLD)
        row.append(_GAP)
        row.append_text(self._drawn(bar, style, scale))
        if widths.verdict:
            row.append(f"{_GAP}{shortened(bar.verdict, widths.verdict)}")
        return row

    def _drawn(self, bar: Bar, style: Style, scale: BarScale) -> Text:
        """The bar itself, over the lines of the ticks."""
        glyphs = _GLYPHS
        end = scale.column(bar.value_bps)
        fill = glyphs.past if bar.kind == "past" else glyphs.fill
        cells = dict.fromkeys(range(end + 1), fill)
        if bar.interval_bps:
            low, high = (scale.column(rate_bps) for rate_bps in bar.interval_bps)
            cells |= dict.fromkeys(range(low, high + 1), glyphs.middle)
            cells |= {low: glyphs.left, high: glyphs.right, end: glyphs.point}
        if bar.reach_bps > scale.top_bps:
            cells[scale.columns - 1] = glyphs.beyond
        lines = {column for column, _ in scale.ticks()}
        drawn = Text()
        for column in range(scale.columns):
            line = glyphs.line if column in lines else " "
            drawn.append(cells.get(column, line), style if column in cells else self._line)
        return drawn

    def _style(self, bar: Bar) -> Style:
        return self._theme_style(_COLOURS.get(bar.kind, bar.colour))

    def _theme_style(self, colour: str) -> Style:
        return Style.parse(theme_style(self.app.theme_variables, colour))

    @property
    def _dim(self) -> Style:
        return self._theme_style("default")

    @property
    def _line(self) -> Style:
        return self._theme_style("line")


def ruler(width: int, top_bps: float) -> str:
    """The axis in two lines: tick marks, and their labels."""
    marks, words = [" "] * width, [" "] * width
    for rate_bps in ticks(top_bps, max(2, width // _TICK_COLUMNS)):
        label = format_rate(rate_bps) if rate_bps else "0"
        at = round(rate_bps / top_bps * (width - 2))
        begin = min(at, width - len(label))
        marks[at] = "│"
        words[begin : begin + len(label)] = label
    return "".join(marks).rstrip() + "\n" + "".join(words).rstrip()
