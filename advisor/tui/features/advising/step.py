"""What the screens of the steps to an advice share: the trail, and the way on and back."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Button

from advisor.tui.page import Page
from advisor.tui.screens import WALK


class Step(Page):
    """One of the walk. `STEP` is its name in WALK."""

    STEP: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "next", "Next", id="next"),
    ]

    def trail(self) -> str:
        """All steps, this one marked."""
        words = (
            f"[reverse] {word} [/reverse]" if name == self.STEP else f"[dim]{word}[/dim]"
            for name, word in WALK.items()
        )
        return "[b]advisor[/b]  " + " › ".join(words)

    def buttons(self) -> Iterable[Button]:
        """Back and on."""
        yield Button("Back", id="back")
        yield Button("Next", id="next", variant="primary")

    def why_not_next(self) -> str:
        """Why the next step cannot be taken yet, a sentence with the remedy; "" when it can."""
        return ""

    def action_next(self) -> None:
        """On to the next step, or a word on why not."""
        if reason := self.why_not_next():
            self.advisor.refuse(reason)
            return
        names = list(WALK)
        self.advisor.go(names[names.index(self.STEP) + 1])

    def action_back(self) -> None:
        """To the step before; from the first one home."""
        names = list(WALK)
        index = names.index(self.STEP)
        if index == 0:
            self.advisor.leave()
        else:
            self.advisor.go(names[index - 1])
