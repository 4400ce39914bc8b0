"""Ctrl+O: a letter on every widget that can be focused, in its place."""

import string
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key, MouseUp
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from advisor.tui.kit.static import Static


class JumpScreen(ModalScreen[None]):
    """A letter focuses the widget that it is drawn on; any other key closes this."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]
    DEFAULT_CSS = """
    JumpScreen { background: $background 25%; }
    JumpScreen > .letter {
        position: absolute; width: 3; height: 1; padding: 0 1;
        background: $focus; color: $background; text-style: bold;
    }
    """

    def __init__(self, about: Screen[None]) -> None:
        super().__init__()
        self._targets = _lettered(about)

    def compose(self) -> ComposeResult:
        for letter, widget in self._targets.items():
            label = Static(letter, classes="letter")
            label.absolute_offset = _place(widget)
            yield label

    def on_key(self, event: Key) -> None:
        """Focus the widget of this letter."""
        event.stop()
        self.dismiss()
        if target := self._targets.get(event.key):
            self.app.call_later(target.focus)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Focus the widget that was clicked."""
        self.dismiss()
        for target in self._targets.values():
            if target.region.contains(event.screen_x, event.screen_y):
                self.app.call_later(target.focus)
                return


def _lettered(about: Screen[None]) -> dict[str, Widget]:
    """The widgets that can be focused and seen, by letter."""
    shown = [widget for widget in about.focus_chain if about.region.overlaps(widget.region)]
    return dict(zip(string.ascii_lowercase, shown, strict=False))


def _place(widget: Widget) -> Offset:
    """At the left of its first line, on the frame where it has one."""
    return Offset(widget.region.x + (1 if widget.border_title else 0), widget.region.y)
