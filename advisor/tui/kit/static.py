"""Text that is laid out again whenever it changes."""

from typing import Any

from textual import widgets


class Static(widgets.Static):
    """Textual's, with the height of its last content.

    Textual 8 keeps the size of a widget until the number of its layouts changes, and does not count
    one that is requested while another is pending. If the screen is laid out in between for another
    widget, a text that grew from one line to two keeps the height of one.
    """

    def update(self, content: Any = "", *, layout: bool = True) -> None:
        """Replace the content."""
        if layout:
            self._layout_updates += 1
        super().update(content, layout=layout)
