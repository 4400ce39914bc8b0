"""Things to choose whose marks say whether they are chosen: also where there are no colours."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Checkbox, RadioButton, RadioSet


class Choice(RadioButton):
    """A radio button as text."""

    DEFAULT_CSS = """
    Choice.-on > .toggle--label { text-style: bold; }
    """

    @property
    def _button(self) -> Content:
        return Content("(x)" if self.value else "( )")


class Tick(Checkbox):
    """A check box as text. `explained` is what F1 says."""

    DEFAULT_CSS = """
    Tick.-on > .toggle--label { text-style: bold; }
    """

    def __init__(self, label: str, value: bool, explained: str, *, id: str) -> None:  # noqa: A002  # as every widget has it
        super().__init__(label, value, compact=True, id=id)
        self.border_title = label
        self._explained = explained

    @property
    def HELP(self) -> str:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """What it is for."""
        return f"[b]{self.border_title}[/b]\n{self._explained}"

    @property
    def _button(self) -> Content:
        return Content("[x]" if self.value else "[ ]")


class ChoiceSet(RadioSet):
    """Of which one is chosen: the arrows choose at once, without a second key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,right,j", "choose(1)", "Next choice", show=False, id="next-choice"),
        Binding("up,left,k", "choose(-1)", "Choice before", show=False, id="choice-before"),
        # The set's own would choose what it believes to be pointed at, which no arrow moved.
        Binding("enter,space", "stay", show=False),
    ]

    _aimed_at: int | None = None

    def action_choose(self, by: int) -> None:
        """The one after or before the one that is chosen now, however quickly keys come.

        The set itself learns of a choice by a message, which may come after the next key.
        """
        buttons = list(self.query(RadioButton))
        now = self.pressed_index if self._aimed_at is None else self._aimed_at
        self._aimed_at = (now + by) % len(buttons)
        buttons[self._aimed_at].value = True

    def action_stay(self) -> None:
        """What is pointed at is chosen already."""

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """The set knows it now."""
        if event.index == self._aimed_at:
            self._aimed_at = None
