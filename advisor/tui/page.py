"""The base of all screens: trail, content, buttons, and navigation."""

from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Static

from advisor.tui.kit.steady_footer import SteadyFooter
from advisor.tui.shell import Shell


class Body(VerticalScroll, can_focus=False):
    """A screen's content: scrolls when it is higher than the terminal."""


class Page(Screen[None]):
    """A screen. `NAME` is its title, `HELP` the text that F1 shows where no widget has its own."""

    NAME: ClassVar[str] = ""
    HELP: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="back"),
        Binding("j", "scroll_body(1)", "Down", show=False, id="down"),
        Binding("k", "scroll_body(-1)", "Up", show=False, id="up"),
    ]

    @property
    def advisor(self) -> Shell:
        """The application, with its own type."""
        app: Shell = self.app  # type: ignore[assignment]  # Textual knows it as an App.
        return app

    def compose(self) -> ComposeResult:
        yield Static(self.trail(), id="trail")
        with Body(id="body"):
            yield from self.content()
        if buttons := list(self.buttons()):
            yield Horizontal(*buttons, id="buttons")
        yield SteadyFooter(show_command_palette=False)

    def trail(self) -> str:
        """The line at the top, which says where the user is."""
        return f"[b]advisor[/b]  {self.NAME}"

    def content(self) -> Iterable[Widget]:
        """The widgets of the screen's body."""
        return ()

    def buttons(self) -> Iterable[Button]:
        """The row at the bottom; a button's id is the name of the action that it runs."""
        return ()

    def every(self, seconds: float, draw: Callable[[], Awaitable[None] | None]) -> None:
        """Call `draw` at this interval, as long as there are widgets to draw on."""

        def tick() -> Awaitable[None] | None:
            # While the application closes, timers still run after the widgets are removed.
            return draw() if self.is_mounted and self.app.is_running else None

        self.set_interval(seconds, tick)

    def action_back(self) -> None:
        """Leave the screen."""
        self.advisor.leave()

    def action_scroll_body(self, lines: int) -> None:
        """Scroll by this many lines."""
        self.query_one(Body).scroll_relative(y=lines, animate=False)

    async def on_button_pressed(self, pressed: Button.Pressed) -> None:
        """Run the action that the button's id names."""
        if pressed.button.id and pressed.button.parent is self.query_one("#buttons"):
            pressed.stop()
            await self.run_action(pressed.button.id.replace("-", "_"))
