"""A few lines to fill in."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label

from advisor.tui.kit.dialogs.style import DIALOG_CSS
from advisor.tui.kit.static import Static


class DialogField(msgspec.Struct, frozen=True, kw_only=True):
    """A line to fill in. `check` raises ValueError with a sentence for an invalid text."""

    name: str
    label: str
    placeholder: str = ""
    check: Callable[[str], object] = str


class EntryScreen(ModalScreen[dict[str, str] | None]):
    """Lines to fill in; returns the entries by name, None when it was cancelled."""

    DEFAULT_CSS = "EntryScreen {" + DIALOG_CSS + "}"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]

    def __init__(self, title: str, fields: Sequence[DialogField], done: str) -> None:
        """`done`: the label of the button that accepts the entries."""
        super().__init__()
        self._title = title
        self._fields = fields
        self._done = done

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="dialog", can_focus=False):
            yield Static(self._title)
            for field in self._fields:
                yield Label(field.label)
                yield Input(placeholder=field.placeholder, id=f"field-{field.name}", compact=True)
            yield Static("", id="wrong")
            with Horizontal(id="answers"):
                yield Button("Leave", id="leave")
                yield Button(self._done, id="done", variant="primary")

    def on_input_submitted(self) -> None:
        """Move to the next line; on the last one accept the entries."""
        inputs = list(self.query(Input))
        if self.focused in inputs[:-1]:
            self.focus_next()
        else:
            self._take()

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        if pressed.button.id == "done":
            self._take()
        else:
            self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)

    def _take(self) -> None:
        entered: dict[str, str] = {}
        for field in self._fields:
            line = self.query_one(f"#field-{field.name}", Input)
            try:
                field.check(line.value)
            except ValueError as error:
                self.query_one("#wrong", Static).update(f"{field.label}: {error}")
                line.focus()
                return
            entered[field.name] = line.value
        self.dismiss(entered)
