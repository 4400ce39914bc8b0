"""The last guard of the screens: whatever a widget draws, the terminal obeys none of it."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from advisor.domain.printable import is_printable


class ShownText(LineFilter):
    """Removes control characters and overrides of direction from drawn lines.

    Data is made printable where it is decoded; this holds for what was missed, such as what a user
    pastes into a field. Such characters have no width, so nothing moves.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments of a line without them."""
        if all(is_printable(segment.text) for segment in segments):
            return segments
        return [Segment(_visible(s.text), s.style, s.control) for s in segments]


def _visible(text: str) -> str:
    return "".join(filter(is_printable, text))
