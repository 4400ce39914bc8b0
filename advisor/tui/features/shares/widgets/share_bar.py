"""A destination's bar: measured rate with the request marked, and below it the prediction.

A bullet chart: a bar that ends before the mark falls short of the request.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import ClassVar, Final

from rich.text import Text
from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.widget import Widget

from advisor.tui.features.shares.rows import RateRow

LEAST_BAR_COLUMNS: Final = 8


_GOT: Final = "█"
_SHORT: Final = "┄"
_ASKED: Final = "◆"
_EXPECTED: Final = "░"
_LOW: Final = "├"
_MIDDLE: Final = "─"
_HIGH: Final = "┤"
_POINT: Final = "●"
_BEYOND: Final = "»"
"""The characters of each part, distinguishable without colour."""

BarCell = tuple[str, str]
"""A character and its part."""

BLANK: Final[BarCell] = (" ", "none")


def column_of(rate_bps: float, columns: int, top_bps: float) -> int:
    """The column of a rate on an axis from 0 to `top_bps`; the last column for rates beyond it."""
    return min(columns - 1, max(0, round(rate_bps / top_bps * (columns - 1))))


def upper_cells(row: RateRow, columns: int, top_bps: float) -> list[BarCell]:
    """The measured rate and the request."""
    cells = [BLANK] * columns
    if row.asked_bps is not None:
        asked = column_of(row.asked_bps, columns, top_bps)
        cells[:asked] = [(_SHORT, "asked")] * asked
    if row.got_bps:
        end = column_of(row.got_bps, columns, top_bps) + 1
        cells[:end] = [(_GOT, "got")] * end
    if row.asked_bps is not None:
        cells[asked] = (_BEYOND if row.asked_bps > top_bps else _ASKED, "asked")
    return cells


def lower_cells(row: RateRow, columns: int, top_bps: float) -> list[BarCell]:
    """The prediction, with its interval if known."""
    cells = [BLANK] * columns
    if row.expected_bps is None:
        return cells
    at = column_of(row.expected_bps, columns, top_bps)
    cells[:at] = [(_EXPECTED, "expected")] * at
    if row.interval_bps:
        low, high = (column_of(bps, columns, top_bps) for bps in row.interval_bps)
        cells[low : high + 1] = [(_MIDDLE, "expected")] * (high + 1 - low)
        cells[low], cells[high] = (_LOW, "expected"), (_HIGH, "expected")
        if row.interval_bps[1] > top_bps:
            cells[high] = (_BEYOND, "expected")
    cells[at] = (_POINT, "expected")
    return cells


def share_legend() -> Iterator[tuple[str, str, str]]:
    """Name, look and meaning of each part."""
    point = f"{_EXPECTED * 2}{_LOW}{_MIDDLE}{_POINT}{_MIDDLE}"
    yield "asked", _SHORT * 2 + _ASKED, "asked (drag or arrows)"
    yield "expected", point + _HIGH, "expected, 90 % in brackets"
    yield "got", _GOT * 3, "measured"


class ShareBar(Widget):
    """`show` a row in it. The mark of the request can be dragged with the mouse."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "share--asked",
        "share--expected",
        "share--got",
        "share--none",
    }
    DEFAULT_CSS = """
    ShareBar { height: 2; width: 1fr; }
    ShareBar > .share--asked { color: $act; text-style: bold; }
    ShareBar > .share--expected { color: $text-secondary; }
    ShareBar > .share--got { color: $advised; }
    ShareBar > .share--none { color: $text-muted; }
    """

    class Dragged(Message):
        """The mark was dragged to this rate, in bit/s; `is_left`: the button was released."""

        def __init__(self, rate_bps: float, *, is_left: bool) -> None:
            super().__init__()
            self.rate_bps = rate_bps
            self.is_left = is_left

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[RateRow, float] | None = None
        self._is_held = False
        self._dragged_to: int | None = None

    def show(self, row: RateRow, top_bps: float) -> None:
        """Draw it on an axis from 0 to `top_bps`."""
        if (row, top_bps) != self._shown:
            self._shown = (row, top_bps)
            self.refresh()

    @property
    def _columns(self) -> int:
        return self.size.width - 1

    def render(self) -> Text:
        if self._shown is None or self._columns < LEAST_BAR_COLUMNS:
            return Text("")
        row, top_bps = self._shown
        if row.remark:
            style = self.get_component_rich_style("share--none", partial=True)
            return Text(row.remark, style, overflow="fold")
        text = Text(no_wrap=True, end="")
        for cells in (upper_cells, lower_cells):
            for part, run in groupby(cells(row, self._columns, top_bps), _part_of):
                style = self.get_component_rich_style(f"share--{part}", partial=True)
                text.append("".join(character for character, _ in run), style)
            text.append("\n")
        text.right_crop(1)
        return text

    def on_mouse_down(self, event: MouseDown) -> None:
        """Start a drag. A click alone changes nothing: it may be meant to select the row."""
        if self._shown and self._shown[0].is_in and event.button == 1:
            self._is_held = True
            self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Drag it."""
        column = min(self._columns - 1, max(0, event.x))
        if self._is_held and column != self._dragged_to:
            self._dragged_to = column
            self._say(column, is_left=False)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Leave it there."""
        if not self._is_held:
            return
        self._is_held = False
        self.release_mouse()
        if self._dragged_to is not None:
            self._say(self._dragged_to, is_left=True)
            self._dragged_to = None

    def _say(self, column: int, *, is_left: bool) -> None:
        if self._shown:
            rate_bps = column / (self._columns - 1) * self._shown[1]
            self.post_message(self.Dragged(rate_bps, is_left=is_left))


def _part_of(cell: BarCell) -> str:
    return cell[1]
