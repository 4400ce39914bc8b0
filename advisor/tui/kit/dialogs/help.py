"""F1: help on the focused widget, and the keys that work here, by what they act on."""

from collections.abc import Iterator
from typing import ClassVar, Final

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen

from advisor.tui.kit.marked import marked
from advisor.tui.kit.static import Static

_EVERYWHERE: Final = "Everywhere"
_HERE: Final = "This screen"
_FOCUSED: Final = "What has the focus"


class HelpScreen(ModalScreen[None]):
    """Help on one screen as it was when help was asked for."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss", "Close")]

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._text())

    def _text(self) -> Content:
        blocks = [help_of(self._about.focused), help_of(self._about), *self._keys()]
        return Content("\n").join(dict.fromkeys(block for block in blocks if block))

    def _keys(self) -> Iterator[Content]:
        """The keys, one group for each kind of thing that they act on."""
        groups: dict[str, list[Content]] = {_FOCUSED: [], _HERE: [], _EVERYWHERE: []}
        for active in self._about.active_bindings.values():
            if active.binding.description and not active.binding.system:
                key = self.app.get_key_display(active.binding)
                line = Content.assemble(
                    "  ", (f"{key:>8}", "bold"), f"  {active.binding.description}"
                )
                groups[self._group_of(active.node)].append(line)
        for title, lines in groups.items():
            if lines:
                yield Content("\n").join([Content.styled(title, "bold"), *lines, Content("")])

    def _group_of(self, node: DOMNode) -> str:
        if isinstance(node, App):
            return _EVERYWHERE
        return _HERE if isinstance(node, Screen) else _FOCUSED


def help_of(node: DOMNode | None) -> Content:
    """The `HELP` of the nearest ancestor that has one; empty where none has.

    It is markup where it is a `str`, so Content where it quotes data.
    """
    while node is not None:
        words: str | Content = getattr(node, "HELP", "") or ""
        if words:
            return (marked(words.strip()) if isinstance(words, str) else words) + "\n"
        node = node.parent
    return Content("")
