"""The base of all screens: head with a status line, content, messages, and navigation."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Mount, Resize, ScreenResume
from textual.screen import Screen
from textual.widget import Widget

from advisor.tui.kit.from_thread import is_there
from advisor.tui.kit.panels.message_line import MessageLine
from advisor.tui.kit.static import Static
from advisor.tui.kit.steady_footer import SteadyFooter
from advisor.tui.shell import Shell
from advisor.tui.status import joined

_STATUS_EVERY_S: Final = 1.0
_GAP: Final = 3


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

    _status_shown = Content("")

    @property
    def advisor(self) -> Shell:
        """The application, with its own type."""
        app: Shell = self.app  # type: ignore[assignment]  # Textual knows it as an App.
        return app

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static(self.trail(), id="trail")
            yield Static(id="status")
        with Body(id="body"):
            yield from self.content()
        yield MessageLine(id="message")
        yield SteadyFooter(show_command_palette=False)

    @on(Mount)
    def _begin_status(self) -> None:
        self.every(_STATUS_EVERY_S, self.show_status)

    @on(Resize)
    @on(ScreenResume)
    def _renew_status(self) -> None:
        # A screen may be shown, and resized, before its widgets are there.
        self.call_after_refresh(self.show_status)

    @on(ScreenResume)
    def _renew_message(self) -> None:
        self.call_after_refresh(self._say_latest)

    def _say_latest(self) -> None:
        """Show a message of the screen before, if it has time left."""
        latest = self.advisor.latest
        if latest and not latest.has_expired:
            self.query_one(MessageLine).say(latest)

    def trail(self) -> Content:
        """The left of the top line, which says where the user is."""
        return Content.styled(self.NAME, "bold")

    def status(self) -> Sequence[Content]:
        """The right of the top line, the most important part first: what runs, by default."""
        return self.advisor.status()

    def show_status(self) -> None:
        """Draw the status line, if it changed and this screen is shown."""
        if self.app.screen is not self:
            return
        trail, line = self.query_one("#trail", Static), self.query_one("#status", Static)
        width = self.size.width - trail.virtual_size.width - _GAP
        shown = joined(self.status(), width)
        if shown != self._status_shown:
            self._status_shown = shown
            # Its place is fixed: an update without a layout of the whole screen.
            line.update(shown, layout=False)

    def content(self) -> Iterable[Widget]:
        """The widgets of the screen's body."""
        return ()

    def every(self, seconds: float, draw: Callable[[], Awaitable[None] | None]) -> None:
        """Call `draw` at this interval, as long as there are widgets to draw on."""

        def tick() -> Awaitable[None] | None:
            return draw() if is_there(self) else None

        self.set_interval(seconds, tick)

    def action_back(self) -> None:
        """Leave the screen."""
        self.advisor.leave()

    def action_scroll_body(self, lines: int) -> None:
        """Scroll by this many lines."""
        self.query_one(Body).scroll_relative(y=lines, animate=False)


def past_trail(*names: str) -> Content:
    """The trail of a screen that Review has opened."""
    *above, last = ["Review", *names]
    return Content.assemble((" › ".join([*above, ""]), "dim"), (last, "bold"))
