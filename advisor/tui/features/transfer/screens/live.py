"""A tuned transfer live: its progress, its throughput by setting, and how to stop it."""

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.widget import Widget

from advisor.domain import events as ev
from advisor.domain import orders as o
from advisor.tui.features.transfer.live_transfer import LiveTransfer
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.features.transfer.widgets.transfer_panels import TransferProgress, TransferResult
from advisor.tui.features.transfer.widgets.transfer_view import TRANSFER_PANELS, TransferView
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.kit.static import Static
from advisor.tui.page import Page
from advisor.tui.screens import screen_named

_DRAWN_EVERY_S: Final = 1.0


class TransferLiveScreen(Page):
    """Shows the application's transfer, redrawn by one timer."""

    NAME = "Moving files"
    AUTO_FOCUS = "#throughput"
    HELP = """[b]Moving files[/b]
Your files are moved, and meanwhile the setting is changed to what is fastest now: how many files at
a time, and over how many streams each. Time is divided into control epochs; after each, the method
that you chose evaluates what arrived in it and chooses the next setting. The upper chart shows what
arrives at the destination, the lower one the setting. Where a session advised a setting for these
hosts, the transfer starts there, and a dashed line shows the advised throughput.
You need not do anything. Leaving the screen does not stop it: Home shows the way back."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", "Stop", id="stop-moving", tooltip="What arrived is kept"),
        Binding("g", "resume", "Resume", id="resume-moving", tooltip="Resumes where it stopped"),
        Binding("m", "others", "Move other files", id="move-others"),
        *(
            Binding(str(i), f"enlarge('{name}')", f"Only: {name}", show=False)
            for i, name in enumerate(TRANSFER_PANELS, 1)
        ),
        Binding("0", "enlarge('')", "All panels", show=False),
        Binding("n", "panel(1)", "Next panel", id="next-panel"),
        Binding("N", "panel(-1)", "Panel before", show=False),
    ]
    DEFAULT_CSS = """
    TransferLiveScreen #body { overflow-y: hidden; }
    TransferLiveScreen #empty { height: 1fr; content-align: center middle; text-align: center; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: object = None
        self._notified: ev.Notice | None = None

    @property
    def _transfer(self) -> LiveTransfer | None:
        return self.advisor.transfer

    def content(self) -> Iterable[Widget]:
        yield TransferProgress(id="progress")
        yield TransferResult(id="end")
        yield TransferView(id="view")
        yield Static("No files are being moved.\n\nm opens the form for a transfer.", id="empty")

    def on_mount(self) -> None:
        # The children of panels are mounted after the screen.
        self.call_after_refresh(self._look)
        self.every(_DRAWN_EVERY_S, self._look)

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Draw what changed, unless another screen is shown."""
        if not self.is_mounted or self.app.screen is not self:
            return
        transfer = self._transfer
        self.query_one("#view").display = bool(transfer and transfer.model.started)
        self.query_one("#empty").display = transfer is None
        if transfer:
            self._say(transfer)
            self.query_one(TransferView).show(transfer.model)

    def _say(self, transfer: LiveTransfer) -> None:
        model = transfer.model
        now = (id(model), model.version, transfer.is_running, self.size)
        if now != self._shown:
            self._shown = now
            self.query_one(TransferProgress).show(model)
            self.query_one(TransferResult).show(model)
            self.refresh_bindings()
            self._tell_newest(model)

    def _tell_newest(self, model: TransferModel) -> None:
        """Show the newest notice once: the log may have no room on the screen."""
        notices = (event for _, event in reversed(model.log) if isinstance(event, ev.Notice))
        newest = next(notices, None)
        if newest and newest is not self._notified and not model.is_over:
            self._notified = newest
            self.notify(newest.message)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key is offered only while it can do something."""
        can = {"stop": self._can_stop, "resume": self._can_resume, "others": self._can_begin}
        return can[action]() if action in can else super().check_action(action, parameters)

    def _can_stop(self) -> bool:
        transfer = self._transfer
        return transfer is not None and transfer.is_running and not transfer.model.is_over

    def _can_resume(self) -> bool:
        transfer = self._transfer
        if transfer is None or transfer.is_running or not transfer.model.is_over:
            return False
        ended = transfer.model.ended
        return ended is None or not ended.complete

    def _can_begin(self) -> bool:
        return self._transfer is None or not self._transfer.is_running

    def action_home(self) -> None:
        self.advisor.action_home()

    def action_stop(self) -> None:
        """Stop it, after a confirmation."""
        self.app.push_screen(
            AskScreen("Stop moving files? What arrived is kept, and g resumes from there.", "Stop"),
            self._stop_if,
        )

    def _stop_if(self, yes: bool | None) -> None:
        if yes and self._transfer:
            self._transfer.order(o.Stop())
            self.notify("Stopping: what arrived is kept.")

    def action_resume(self) -> None:
        """Resume a transfer that did not complete."""
        if reason := self.advisor.why_no_session():
            self.advisor.refuse(reason)
        elif self._transfer:
            self.advisor.resume_transfer(self._transfer)
            self._look()

    def action_others(self) -> None:
        """Open the form, with the entries used last."""
        self.app.switch_screen(screen_named("move"))

    def action_enlarge(self, panel: str) -> None:
        """Show one panel alone."""
        self.query_one(TransferView).enlarge(panel)

    def action_panel(self, by: int) -> None:
        """Show the next panel alone."""
        self.query_one(TransferView).next_panel(by)

    def action_back(self) -> None:
        """Leave the screen; the transfer continues."""
        if self._transfer and self._transfer.is_running:
            self.notify("The transfer continues: f at home shows it.")
        super().action_back()
