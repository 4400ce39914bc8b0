"""A question to be answered with yes or no."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button

from advisor.tui.kit.dialogs.style import DIALOG_CSS
from advisor.tui.kit.static import Static


class AskScreen(ModalScreen[bool]):
    """A question to be answered with yes or no; closing it means no."""

    DEFAULT_CSS = "AskScreen {" + DIALOG_CSS + "}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str, yes: str) -> None:
        """`yes`: the label of the button that confirms."""
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="dialog", can_focus=False):
            yield Static(self._question)
            with Horizontal(id="answers"):
                yield Button("No", id="no")
                yield Button(self._yes, id="yes", variant="warning")

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        self.dismiss(pressed.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
