"""F1: help on the focused widget, and the keys of the screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Static


class HelpScreen(ModalScreen[None]):
    """Help on one screen as it was when help was asked for."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss", "Close")]

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._text(), markup=True)

    def _text(self) -> str:
        keys = []
        for active in self._about.active_bindings.values():
            if active.binding.description and not active.binding.system:
                key = self.app.get_key_display(active.binding)
                keys.append(f"  [b]{key:>8}[/b]  {active.binding.description}")
        blocks = [help_of(self._about.focused), help_of(self._about), "[b]Keys[/b]", *keys]
        return "\n".join(dict.fromkeys(block for block in blocks if block))


def help_of(node: DOMNode | None) -> str:
    """The `HELP` of the nearest ancestor that has one; "" where none has."""
    while node is not None:
        text: str = getattr(node, "HELP", "") or ""
        if text:
            return text.strip() + "\n"
        node = node.parent
    return ""
