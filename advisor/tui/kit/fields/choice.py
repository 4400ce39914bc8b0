"""Radio buttons and check boxes whose marks show the choice also without colours."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Checkbox, RadioButton, RadioSet

from advisor.tui.kit.marked import titled


class Choice(RadioButton):
    """A radio button as text. Its label is never markup: it may be what a plugin says of itself."""

    DEFAULT_CSS = """
    Choice.-on > .toggle--label { text-style: bold; }
    """

    def __init__(self, label: str, value: bool, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(Content(label), value, id=id)

    @property
    def _button(self) -> Content:
        return Content("(x)" if self.value else "( )")


class Tick(Checkbox):
    """A check box as text. `explained` is what F1 says. Neither text is markup."""

    DEFAULT_CSS = """
    Tick.-on > .toggle--label { text-style: bold; }
    """

    def __init__(self, label: str, value: bool, explained: str, *, id: str) -> None:  # noqa: A002  # as every widget has it
        super().__init__(Content(label), value, compact=True, id=id)
        self.border_title = Content(label)
        self._words = label
        self._explained = explained

    @property
    def HELP(self) -> Content:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """The help text."""
        return titled(self._words, self._explained)

    @property
    def _button(self) -> Content:
        return Content("[x]" if self.value else "[ ]")


class ChoiceSet(RadioSet):
    """A radio set: the arrows choose at once, without a second key.

    So what is chosen is all that is marked: there is no cursor beside it.
    """

    DEFAULT_CSS = """
    ChoiceSet, ChoiceSet:focus { background: transparent; }
    ChoiceSet:blur > RadioButton.-selected > .toggle--label,
    ChoiceSet:focus > RadioButton.-selected > .toggle--label {
        background: transparent; color: $foreground; text-style: none;
    }
    ChoiceSet:blur > RadioButton.-on > .toggle--label,
    ChoiceSet:blur > RadioButton.-on > .toggle--button { color: $foreground; text-style: bold; }
    ChoiceSet:focus > RadioButton.-on > .toggle--label,
    ChoiceSet:focus > RadioButton.-on > .toggle--button { color: $focus; text-style: bold; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,right,j", "choose(1)", "Next choice", show=False, id="next-choice"),
        Binding("up,left,k", "choose(-1)", "Choice before", show=False, id="choice-before"),
        # The base class would choose the item that it believes highlighted, which no arrow moved.
        Binding("space", "stay", show=False),
        Binding("enter", "submit", show=False),
    ]

    class Submitted(Message):
        """Enter was pressed."""

    _aimed_at: int | None = None

    def action_choose(self, by: int) -> None:
        """Choose the next or previous item, however quickly keys come.

        The base class learns of a choice by a message, which may come after the next key.
        """
        buttons = list(self.query(RadioButton))
        now = self.pressed_index if self._aimed_at is None else self._aimed_at
        self._aimed_at = (now + by) % len(buttons)
        buttons[self._aimed_at].value = True

    def action_stay(self) -> None:
        """Do nothing: the item is chosen already."""

    def action_submit(self) -> None:
        """Post that the user wants to continue."""
        self.post_message(self.Submitted())

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Note that the base class knows the choice."""
        if event.index == self._aimed_at:
            self._aimed_at = None
