"""What every screen uses of the application: history, draft, running sessions, and navigation."""

import socket
from collections.abc import Sequence
from typing import Final

from textual.app import App
from textual.content import Content
from textual.filter import LineFilter
from textual.notifications import Notification, SeverityLevel
from textual.screen import Screen

from advisor.store.history import Store
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.live_session import LiveSession
from advisor.tui.features.shares.live_shares import LiveShares
from advisor.tui.features.transfer.live_transfer import LiveTransfer
from advisor.tui.features.transfer.move_draft import ONCE_FLAGS
from advisor.tui.kit.ascii_lines import AsciiLines
from advisor.tui.kit.colours import role_colours
from advisor.tui.kit.open_history import OpenHistory
from advisor.tui.kit.panels.message_line import MessageLine
from advisor.tui.kit.sentences import capitalised
from advisor.tui.kit.shown_text import ShownText
from advisor.tui.screens import WALK, screen_named
from advisor.tui.status import session_status, shares_status, transfer_status

_EXTENDING: Final = ["resume", "--more"]


class Shell(App[int]):
    """`history`: everything that is stored. `draft`: what was entered for advice.

    `session`, `transfer`, `shares`: the advice session, tuned transfer and transfer to several
    destinations that run, or ran last. `drawing`: what charts are drawn with: braille, block or
    ascii. `latest`: the last message.
    """

    def __init__(self, store: Store, draft: Draft, drawing: str) -> None:
        super().__init__()
        self._shown_text = ShownText()
        self.history = OpenHistory(store)
        self.draft = draft
        self.drawing = drawing
        self.session: LiveSession | None = None
        self.transfer: LiveTransfer | None = None
        self.shares: LiveShares | None = None
        self.latest: Notification | None = None

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every drawn line passes: also the guard against control codes, and ASCII."""
        ascii_lines = [AsciiLines()] if self.drawing == "ascii" else []
        return [*super().get_line_filters(), self._shown_text, *ascii_lines]

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a message. It is never markup, whatever a widget asks for: it may quote data.

        A page shows it in its own line, that which follows too; over a dialog it is a toast.
        """
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)
        timeout_s = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.latest = Notification(message, title, severity, timeout_s)
        for line in self.screen.query(MessageLine):
            line.say(self.latest)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of all roles, for style sheets and charts."""
        return dict(role_colours(self.current_theme))

    def status(self) -> list[Content]:
        """What runs now, and how it stands; the most important part first."""
        if self.session and self.session.is_running:
            return session_status(self.session.model)
        if self.transfer and self.transfer.is_running:
            return transfer_status(self.transfer.model)
        if self.shares and self.shares.is_running:
            return shares_status(self.shares.model)
        return [Content(socket.gethostname()), Content("idle")]

    def go(self, name: str) -> None:
        """Show the screen of this name, over Home; each keeps its state.

        A step takes the place of another step, and of all that was opened over that one.
        """
        if not self.is_screen_installed(name):
            self.install_screen(screen_named(name), name)
        if name in WALK:
            self._pop_to(3)
        if len(self.screen_stack) > 2:
            self.switch_screen(name)
        else:
            self.push_screen(name)

    def open(self, page: Screen[None]) -> None:
        """Show a screen over the present one; `leave` goes back to it."""
        self.push_screen(page)

    def leave(self) -> None:
        """Return to the screen below this one."""
        if len(self.screen_stack) > 2:
            self.pop_screen()

    def action_home(self) -> None:
        """Return to Home, from anywhere; a running session continues."""
        self._pop_to(2)

    def _pop_to(self, count: int) -> None:
        """Leave the screens above this many: the lowest is Textual's, the second Home."""
        while len(self.screen_stack) > count:
            self.pop_screen()

    def action_help_quit(self) -> None:
        """Say which key quits; Ctrl-C copies, where text is selected."""
        for key, active in self.active_bindings.items():
            if active.binding.action in ("quit", "app.quit"):
                self.notify(f"Press {key} to quit.")
                return

    def begin_session(self, arguments: list[str]) -> None:
        """Start a session and show it. One at a time: see `why_no_session`."""
        self.start_session(arguments)
        self.go("profiling")

    def start_session(self, arguments: list[str]) -> LiveSession:
        """Start a session that has nothing to show yet."""
        self.session = LiveSession(arguments)
        for name in ("profiling", "comparison", "advice"):
            if self.is_screen_installed(name):
                self.uninstall_screen(name)
        return self.session

    def resume_session(self, session: str) -> None:
        """Resume an interrupted session, and show it."""
        again = ["resume", "--session", session]
        self.begin_session([*again, "--json", "--orders", *self.history.arguments])

    def continue_session(self, session: str) -> None:
        """Resume the session shown last, which was lost.

        What had ended before and was extended can only be extended again, with the same command.
        """
        before = self.session.arguments if self.session else []
        if before[:2] == _EXTENDING:
            self.begin_session(before)
        else:
            self.resume_session(session)

    def extend_session(self, session: str, seconds: int) -> None:
        """Continue a session that has ended for some seconds, and show it."""
        more = [*_EXTENDING, f"{seconds}s", "--session", session]
        self.begin_session([*more, "--json", "--orders", *self.history.arguments])

    def begin_transfer(self, arguments: list[str]) -> None:
        """Start a transfer and show it. Not during a session: see `why_no_session`."""
        self.transfer = LiveTransfer(arguments)
        self.go("moving")

    def resume_transfer(self, ended: LiveTransfer) -> None:
        """Resume a transfer that failed or was stopped; its screen stays."""
        ended.model.resume()
        # Only the first run starts from scratch, and may replace files; this one resumes it.
        words = [word for word in ended.arguments if word not in ONCE_FLAGS]
        self.transfer = LiveTransfer(words, ended.model)

    def begin_shares(self, arguments: list[str]) -> None:
        """Start a transfer to several destinations. Not during a session: see `why_no_session`."""
        self.shares = LiveShares(arguments)

    @property
    def is_sharing(self) -> bool:
        """Whether files are being moved to several destinations."""
        return self.shares is not None and self.shares.is_running

    @property
    def is_moving(self) -> bool:
        """Whether files are being moved."""
        return self.is_sharing or (self.transfer is not None and self.transfer.is_running)

    def why_no_session(self) -> str:
        """Why nothing can be measured or moved now; "" when it can."""
        if self.session and self.session.is_running:
            return "a session is running: stop it first, or wait until it ends"
        if self.is_moving:
            return "files are being moved, which would disturb it: stop that first, or wait"
        return ""

    def refuse(self, reason: str) -> None:
        """Say why something cannot be done now."""
        self.notify(capitalised(reason), title="Not now", severity="warning")
