"""What all screens have in common: where one is, and the way on and back."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Static

from advisor.tui.widgets.steady_footer import SteadyFooter

if TYPE_CHECKING:
    from advisor.tui.app import AdvisorApp

WALK: Final = {
    "where": "Where",
    "what": "What",
    "path": "Path",
    "history": "History",
    "profiling": "Profile",
    "comparison": "Compare",
    "advice": "Advice",
}
"""The steps from a question to a command line: screen name, and its word in the trail."""


class Body(VerticalScroll, can_focus=False):
    """A screen's content: scrolls when it is higher than the terminal."""


class Page(Screen[None]):
    """A screen. `NAME` is its word, `HELP` the text that F1 shows where no widget has its own."""

    NAME: ClassVar[str] = ""
    HELP: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="back"),
        Binding("j", "scroll_body(1)", "Down", show=False, id="down"),
        Binding("k", "scroll_body(-1)", "Up", show=False, id="up"),
    ]

    @property
    def advisor(self) -> "AdvisorApp":
        """The application, as what it is."""
        app: AdvisorApp = self.app  # type: ignore[assignment]  # Textual knows it as an App.
        return app

    def compose(self) -> ComposeResult:
        yield Static(self.trail(), id="trail")
        with Body(id="body"):
            yield from self.content()
        if buttons := list(self.buttons()):
            yield Horizontal(*buttons, id="buttons")
        yield SteadyFooter(show_command_palette=False)

    def trail(self) -> str:
        """The line at the top: where one is."""
        return f"[b]advisor[/b]  {self.NAME}"

    def content(self) -> Iterable[Widget]:
        """What the screen is about."""
        return ()

    def buttons(self) -> Iterable[Button]:
        """The row at the bottom; a button's id is the name of the action it stands for."""
        return ()

    def every(self, seconds: float, draw: Callable[[], Awaitable[None] | None]) -> None:
        """Have this called so often, as long as there are widgets to draw on."""

        def tick() -> Awaitable[None] | None:
            # While the application closes, timers go on after the widgets have gone.
            return draw() if self.is_mounted and self.app.is_running else None

        self.set_interval(seconds, tick)

    def action_back(self) -> None:
        """Leave the screen."""
        self.advisor.leave()

    def action_scroll_body(self, lines: int) -> None:
        """Scroll as vim does."""
        self.query_one(Body).scroll_relative(y=lines, animate=False)

    async def on_button_pressed(self, pressed: Button.Pressed) -> None:
        """A button does what its key does."""
        if pressed.button.id and pressed.button.parent is self.query_one("#buttons"):
            pressed.stop()
            await self.run_action(pressed.button.id.replace("-", "_"))


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
