"""Throughputs as bars on one axis from zero, each with its 90 % interval."""

from collections.abc import Sequence
from typing import ClassVar, Final, Literal

import msgspec
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from advisor.domain.quantities import format_rate, format_rates
from advisor.tui.kit.charts.axis import nice_end, ticks

BarKind = Literal["advised", "measured", "default", "past", "limit", "joint"]

_GLYPHS: Final = {
    "block": ("█", "├", "─", "┤", "●", "│", "▶", "»"),
    "ascii": ("=", "[", "-", "]", "o", "|", ">", ">"),
}
_MARKED: Final = ("advised", "limit")
_TICK_COLUMNS: Final = 14
_BOLD: Final = Style(bold=True)


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar. `interval_bps` is None for a single probe or a result from history.

    `name` and `detail` are shown above it; `remark` replaces an unknown interval.
    """

    name: str
    detail: str
    value_bps: float
    interval_bps: tuple[float, float] | None = None
    kind: BarKind = "measured"
    remark: str = ""

    @property
    def reach_bps(self) -> float:
        """Its right end."""
        return max(self.value_bps, self.interval_bps[1] if self.interval_bps else 0.0)


class IntervalBars(Widget, can_focus=True):
    """Bars, sorted by value if `best_first`. `show` fills it.

    `top_bps`: the end of the axis, if not that of the longest bar; a longer bar ends in an arrow.
    """

    HELP = (
        "[b]Bars[/b] Each bar is one setting; its length is the mean throughput, from zero. The "
        "bracket around its end is the 90 % interval of the mean: where two brackets hardly "
        "overlap, the difference is significant."
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "bars--advised",
        "bars--measured",
        "bars--default",
        "bars--past",
        "bars--dim",
    }
    DEFAULT_CSS = """
    IntervalBars { height: auto; width: 1fr; margin-bottom: 1; }
    IntervalBars:focus { background-tint: $foreground 5%; }
    IntervalBars > .bars--advised { color: $advised; }
    IntervalBars > .bars--measured { color: $blue; }
    IntervalBars > .bars--default { color: $default; }
    IntervalBars > .bars--past { color: $violet; }
    IntervalBars > .bars--dim { color: $default; }
    """

    def __init__(
        self,
        bars: Sequence[Bar] = (),
        *,
        drawing: str = "block",
        best_first: bool = True,
        top_bps: float | None = None,
    ) -> None:
        super().__init__()
        self._best_first = best_first
        self._top_bps = top_bps
        self.border_title = "Bars"
        self._bars: list[Bar] = []
        self._glyphs = _GLYPHS["ascii" if drawing == "ascii" else "block"]
        self.show(bars)

    def show(self, bars: Sequence[Bar]) -> None:
        """Draw these."""
        self._bars = sorted(bars, key=lambda bar: -bar.value_bps if self._best_first else 0.0)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 2 * len(self._bars) + 2 if self._bars else 0

    def render(self) -> Text:
        width = self.size.width
        if not self._bars or width < 20:
            return Text("")
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        top_bps = self._top_bps or nice_end(max(bar.reach_bps for bar in self._bars))
        for bar in self._bars:
            text.append_text(self._caption(bar, width))
            text.append_text(self._drawn(bar, width - 1, top_bps))
        dim = self.get_component_rich_style("bars--dim", partial=True)
        text.append(ruler(width, top_bps, self._glyphs[5]), dim)
        return text

    def _caption(self, bar: Bar, width: int) -> Text:
        style = self.get_component_rich_style(f"bars--{bar.kind}", partial=True)
        dim = self.get_component_rich_style("bars--dim", partial=True)
        line = Text(no_wrap=True, end="")
        line.append(f"{self._glyphs[6]} " if bar.kind in _MARKED else "  ", style)
        line.append(bar.name, style + _BOLD)
        line.append(f"  {format_rate(bar.value_bps)}")
        if bar.interval_bps:
            line.append(f" (90 %: {format_rates(*bar.interval_bps)})", dim)
        elif bar.remark:
            line.append(f" ({bar.remark})", dim)
        line.append(f"  {bar.detail}", dim)
        line.truncate(width, overflow="ellipsis")
        return line.append("\n")

    def _drawn(self, bar: Bar, columns: int, top_bps: float) -> Text:
        fill, left, middle, right, point = self._glyphs[:5]
        beyond = self._glyphs[7]
        style = self.get_component_rich_style(f"bars--{bar.kind}", partial=True)

        def column(rate_bps: float) -> int:
            return min(columns - 1, round(rate_bps / top_bps * (columns - 1)))

        end = column(bar.value_bps)
        cells = [fill if i <= end else " " for i in range(columns)]
        if bar.interval_bps:
            low, high = column(bar.interval_bps[0]), column(bar.interval_bps[1])
            cells[low : high + 1] = middle * (high - low + 1)
            cells[low], cells[high] = left, right
            cells[end] = point
        if bar.reach_bps > top_bps:
            cells[-1] = beyond
        return Text("".join(cells).rstrip() + "\n", style, end="")


def ruler(width: int, top_bps: float, mark: str) -> str:
    """The axis in two lines: tick marks, and their labels."""
    marks, words = [" "] * width, [" "] * width
    for rate_bps in ticks(top_bps, max(2, width // _TICK_COLUMNS)):
        label = format_rate(rate_bps) if rate_bps else "0"
        at = round(rate_bps / top_bps * (width - 2))
        begin = min(at, width - len(label))
        marks[at] = mark
        words[begin : begin + len(label)] = label
    return "".join(marks).rstrip() + "\n" + "".join(words).rstrip()
