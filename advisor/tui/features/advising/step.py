"""The base of the screens that lead to advice: trail, Next and Back."""

from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from advisor.tui.kit.fields.choice import ChoiceSet
from advisor.tui.page import Page
from advisor.tui.screens import WALK

_ALL_STEPS_FROM: Final = 150


class Step(Page):
    """A step to advice. `STEP` is its name in WALK."""

    STEP: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "next", "Next", id="next"),
    ]

    def trail(self) -> Content:
        """The names of all steps, this one marked; on a narrow terminal this one alone."""
        if self.app.size.width < _ALL_STEPS_FROM:
            return super().trail()
        words = [
            Content.styled(word, "bold" if name == self.STEP else "dim")
            for name, word in WALK.items()
        ]
        return Content(" › ").join(words)

    @on(Input.Submitted)
    @on(ChoiceSet.Submitted)
    def _enter_is_next(self) -> None:
        self.action_next()

    def why_not_next(self) -> str:
        """Why the next step cannot be taken yet, a sentence with the remedy; "" when it can."""
        return ""

    def action_next(self) -> None:
        """Go to the next step, or say why not."""
        if reason := self.why_not_next():
            self.advisor.refuse(reason)
            return
        names = list(WALK)
        self.advisor.go(names[names.index(self.STEP) + 1])

    def action_back(self) -> None:
        """Go to the previous step; from the first one to Home."""
        names = list(WALK)
        index = names.index(self.STEP)
        if index == 0:
            self.advisor.leave()
        else:
            self.advisor.go(names[index - 1])
