"""What can be done from Home: one key and its words each, which can be clicked too."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.events import Resize
from textual.style import Style

from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.static import Static
from advisor.tui.screens import HomeKey

_COLUMN: Final = 22
_TWO_COLUMNS_FROM: Final = 2 * _COLUMN + 4


class StartPanel(Titled, Static):
    """The keys of Home. `show` says which of them can do nothing now."""

    DEFAULT_CSS = (
        f"StartPanel {{ {PANEL_CSS} }}"
        + """
    StartPanel {
        height: auto; link-style: none; link-color: $foreground; link-style-hover: reverse;
    }
    """
    )

    def __init__(self, keys: Sequence[HomeKey]) -> None:
        super().__init__(id="start")
        self.set_title("Start")
        self._keys = list(keys)
        self._without: frozenset[str] = frozenset()

    def on_resize(self, _: Resize) -> None:
        self._draw()

    def show(self, without: frozenset[str]) -> None:
        """`without`: the ids of keys that are left out."""
        if without != self._without:
            self._without = without
            self._draw()

    def _draw(self) -> None:
        shown = [key for key in self._keys if key.id not in self._without]
        rows = -(-len(shown) // 2) if self.size.width >= _TWO_COLUMNS_FROM else len(shown)
        lines = []
        for row in range(rows):
            lines.append(Content("").join(_link(key) for key in shown[row::rows]))
        self.update(Content("\n").join(lines))


def _link(key: HomeKey) -> Content:
    words = Content.assemble((key.key, "bold $focus"), f"  {key.button}")
    padding = " " * max(0, _COLUMN - words.cell_length)
    clicked = Style.from_meta({"@click": f"screen.{key.action}"})
    return Content.assemble(words.stylize(clicked), padding)
