"""The canvas of a chart, which sends only changed lines to the terminal."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, ClassVar, Self

from rich.style import Style
from textual.app import ComposeResult, RenderResult
from textual.binding import BindingType
from textual.containers import Grid
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static
from textual_hires_canvas import Canvas
from textual_plot import PlotWidget

from advisor.tui.kit.charts.drawing import ASCII, LIGHT

# Textual takes a widget's styles from the first of its bases that is one: this must not be.
if TYPE_CHECKING:
    _Mixin = Widget
else:
    _Mixin = object


class _Held(_Mixin):
    """A widget whose refreshes can be held back, while what it shows is being drawn."""

    _is_held = False

    @contextmanager
    def _holding(self) -> Iterator[None]:
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Ignored while it is held, unless the layout changes."""
        if self._is_held and not layout and not recompose:
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


class _Canvas(_Held, Canvas):
    """Sends only changed lines to the terminal. The frame is light, or in ASCII."""

    def __init__(self, name: str) -> None:
        self._strips: list[Strip] = []
        self._base_style = Style()
        super().__init__(1, 1, id=name)

    @property
    def rich_style(self) -> Style:
        return self._base_style

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Collect what is drawn in the block, and show it at the end if it differs."""
        # Textual computes this again for every line.
        self._base_style = super().rich_style
        with self._holding():
            yield
        table = ASCII if getattr(self.app, "drawing", "") == "ascii" else LIGHT
        before, self._strips = self._strips, []
        for y in range(self.size.height):
            strip = super().render_line(y)
            drawn = [s._replace(text=s.text.translate(table)) for s in strip]
            self._strips.append(Strip(drawn, strip.cell_length))
        for y, strip in enumerate(self._strips):
            if y >= len(before) or strip != before[y]:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        if y < len(self._strips):
            return self._strips[y]
        # Without colours every segment needs a style.
        return Strip.blank(self.size.width, self._base_style)


class Plot(_Held, PlotWidget, can_focus=False):
    """The drawing alone."""

    BINDINGS: ClassVar[list[BindingType]] = []
    margin_top = reactive(1)
    margin_bottom = reactive(1)
    margin_left = reactive(7)

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Draw at the end what is plotted in the block, without repainting what is unchanged."""
        with self._holding():
            yield
        self.render()

    def render(self) -> RenderResult:
        """Draw on all canvases; Textual calls this often, mostly with nothing to draw."""
        if not self._needs_rerender:
            return ""
        with ExitStack() as drawings:
            for canvas in self.query(_Canvas):
                drawings.enter_context(canvas.drawing())
            return super().render()

    def compose(self) -> ComposeResult:
        with Grid():
            for name in ("margin-top", "margin-left", "plot", "margin-bottom"):
                yield _Canvas(name)
        yield Static(id="legend")
