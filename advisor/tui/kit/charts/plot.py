"""The canvas of a chart, which sends only changed lines to the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual_hires_canvas import Canvas


class Plot(Canvas, can_focus=False):
    """Sends its parent a `Resize` message when it has to be drawn again."""

    def __init__(self) -> None:
        self._strips: list[Strip] = []
        self._base_style = Style()
        self._is_held = False
        super().__init__(1, 1)

    @property
    def rich_style(self) -> Style:
        return self._base_style

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Collect what is drawn in the block, and show the lines that differ from before."""
        # Textual computes this again for every line.
        self._base_style = super().rich_style
        self._is_held = True
        self.reset(size=self.size)
        try:
            yield
        finally:
            self._is_held = False
        before = self._strips
        self._strips = [super(Plot, self).render_line(y) for y in range(self.size.height)]
        for y, strip in enumerate(self._strips):
            if y >= len(before) or strip != before[y]:
                self.refresh(Region(0, y, self.size.width, 1))

    def write(self, x: int, y: int, words: str, style: str) -> None:
        """Write a text that begins in column x; what is outside is left out."""
        for column, character in enumerate(words, x):
            self.set_pixel(column, y, character, style)

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Ignored while it is being drawn, unless the layout changes."""
        if self._is_held and not layout and not recompose:
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_line(self, y: int) -> Strip:
        if y < len(self._strips):
            return self._strips[y]
        # Without colours every segment needs a style.
        return Strip.blank(self.size.width, self._base_style)
