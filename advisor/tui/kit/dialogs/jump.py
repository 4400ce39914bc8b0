"""Ctrl+O: a letter for every widget that can be focused."""

import string
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Key
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Button, Static

from advisor.tui.kit.panels.titled import Titled


class JumpScreen(ModalScreen[None]):
    """The list of widgets; a letter focuses one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]

    def __init__(self, about: Screen[None]) -> None:
        super().__init__()
        self._targets = dict(zip(string.ascii_lowercase, about.focus_chain, strict=False))

    def compose(self) -> ComposeResult:
        lines = (f"[b]{letter}[/b]  {_target_name(w)}" for letter, w in self._targets.items())
        with VerticalScroll(id="jump"):
            yield Static("\n".join(["Jump to", *lines]))

    def on_key(self, event: Key) -> None:
        """Focus the widget of this letter."""
        if target := self._targets.get(event.key):
            event.stop()
            self.dismiss()
            self.app.call_later(target.focus)


def _target_name(widget: Widget) -> str:
    if isinstance(widget, Titled):
        return widget.title
    if widget.border_title:
        return str(widget.border_title)
    if isinstance(widget, Button):
        return str(widget.label)
    return (widget.id or type(widget).__name__).replace("-", " ")
