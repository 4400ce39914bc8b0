"""One of several, whose mark says whether it is chosen: also where there are no colours."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import RadioButton, RadioSet


class Choice(RadioButton):
    """A radio button as text."""

    DEFAULT_CSS = """
    Choice.-on > .toggle--label { text-style: bold; }
    """

    @property
    def _button(self) -> Content:
        return Content("(x)" if self.value else "( )")


class ChoiceSet(RadioSet):
    """Of which one is chosen: the arrows choose at once, without a second key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,right,j", "choose(1)", "Next choice", show=False, id="next-choice"),
        Binding("up,left,k", "choose(-1)", "Choice before", show=False, id="choice-before"),
    ]

    def action_choose(self, by: int) -> None:
        """The one after or before the one that is chosen now."""
        buttons = list(self.query(RadioButton))
        buttons[(self.pressed_index + by) % len(buttons)].value = True
