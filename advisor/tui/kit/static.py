"""Text that is laid out again whenever it changes, and is never taken for markup."""

from typing import Any

from textual import widgets
from textual.visual import VisualType


class Static(widgets.Static):
    """Textual's, with the height of its last content. A `str` is plain text: it may quote data.

    What is styled is Content. No text from outside goes through markup: Textual's `escape` leaves
    upper-case, unclosed and nested brackets as they are.

    Textual 8 keeps the size of a widget until the number of its layouts changes, and does not count
    one that is requested while another is pending. If the screen is laid out in between for another
    widget, a text that grew from one line to two keeps the height of one.
    """

    def __init__(self, content: VisualType = "", **options: Any) -> None:
        """`options`: those of Textual's, but for `markup`."""
        super().__init__(content, markup=False, **options)

    def update(self, content: Any = "", *, layout: bool = True) -> None:
        """Replace the content."""
        if layout:
            self._layout_updates += 1
        super().update(content, layout=layout)
