"""A tuned transfer live: its progress, its throughput by setting, and how to stop it."""

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from advisor.domain import orders as o
from advisor.tui.features.transfer.live_transfer import LiveTransfer
from advisor.tui.features.transfer.texts import (
    pair_and_method,
    progress_lines,
    transfer_end_lines,
    tuning_lines,
)
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.features.transfer.widgets.transfer_view import TRANSFER_PANELS, TransferView
from advisor.tui.kit.charts.drawing import ASCII
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.page import Page

_DRAWN_EVERY_S: Final = 1.0
_BAR_SHARE: Final = 0.3


class TransferLiveScreen(Page):
    """Shows the application's transfer, redrawn by one timer."""

    NAME = "Moving files"
    HELP = """[b]Moving files[/b]
Your files are moved, and meanwhile the setting is changed to what is fastest now: how many files at
a time, and over how many streams each. Time is divided into control epochs; after each, the method
that you chose evaluates what arrived in it and chooses the next setting. The upper chart shows what
arrives at the destination, the lower one the setting.
You need not do anything. Leaving the screen does not stop it: Home shows the way back."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", "Stop", id="stop-moving", tooltip="What arrived is kept"),
        Binding("g", "resume", "Resume", id="resume-moving", tooltip="Resumes where it stopped"),
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
    TransferLiveScreen #head { height: 1; }
    TransferLiveScreen #far { height: auto; }
    TransferLiveScreen #word { height: auto; padding: 0 1; }
    TransferLiveScreen #word.done { background: $success-muted; color: $advised; }
    TransferLiveScreen #word.not-done { background: $warning-muted; color: $act; }
    TransferLiveScreen #word.gave-up { background: $error-muted; color: $failed; }
    TransferLiveScreen #empty { height: 1fr; content-align: center middle; text-align: center; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: object = None

    @property
    def _transfer(self) -> LiveTransfer | None:
        return self.advisor.transfer

    def content(self) -> Iterable[Widget]:
        yield Static(id="head")
        yield Static(id="far")
        yield Static(id="word")
        yield TransferView(id="view")
        yield Static(
            "No files are being moved.\n\nm at home (ctrl+g) opens the form for a transfer.",
            id="empty",
        )

    def on_mount(self) -> None:
        self._look()
        self.every(_DRAWN_EVERY_S, self._look)

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self._look)

    def on_resize(self) -> None:
        self._said = None

    def _look(self) -> None:
        """Draw what changed, unless another screen is shown."""
        if not self.is_mounted or self.app.screen is not self:
            return
        transfer = self._transfer
        self.query_one("#view").display = transfer is not None
        self.query_one("#empty").display = transfer is None
        if transfer:
            self._say(transfer)
            self.query_one(TransferView).show(transfer.model)

    def _say(self, transfer: LiveTransfer) -> None:
        model = transfer.model
        now = (model.version, transfer.is_running, id(model))
        if now == self._said:
            return
        self._said = now
        self.query_one("#head", Static).update(Content(pair_and_method(model)))
        cells = max(10, int(self.size.width * _BAR_SHARE))
        lines = [*progress_lines(model, cells), *tuning_lines(model)]
        far = "\n".join(lines)
        if self.advisor.drawing == "ascii":
            far = far.translate(ASCII)
        self.query_one("#far", Static).update(Content(far))
        self._say_the_end(model)

    def _say_the_end(self, model: TransferModel) -> None:
        word = self.query_one("#word", Static)
        lines = transfer_end_lines(model)
        word.display = bool(lines)
        word.update(Content("\n".join(lines)))
        complete = bool(model.ended and model.ended.complete)
        word.set_class(complete, "done")
        word.set_class(bool(model.ended) and not complete, "not-done")
        word.set_class(model.gave_up is not None, "gave-up")
        self.query_one("#resume").display = bool(lines) and not complete
        self.query_one("#stop").display = not lines

    def action_home(self) -> None:
        self.advisor.action_home()

    def action_stop(self) -> None:
        """Stop it, after a confirmation."""
        transfer = self._transfer
        if transfer is None:
            self.advisor.refuse("no files are being moved: m at home starts a transfer")
        elif not transfer.is_running or transfer.model.is_over:
            self.advisor.refuse("it is over: nothing is being moved")
        else:
            self.app.push_screen(
                AskScreen(
                    "Stop moving files? What arrived is kept, and g resumes from there.", "Stop"
                ),
                self._stop_if,
            )

    def _stop_if(self, yes: bool | None) -> None:
        if yes and self._transfer:
            self._transfer.order(o.Stop())
            self.notify("Stopping: what arrived is kept.")

    def action_resume(self) -> None:
        """Resume a transfer that did not complete."""
        transfer = self._transfer
        if transfer is None:
            self.advisor.refuse("there is nothing to resume: m at home starts a transfer")
        elif transfer.is_running:
            self.advisor.refuse("it is running: g is for a transfer that did not complete")
        elif transfer.model.ended and transfer.model.ended.complete:
            self.advisor.refuse("all files arrived: m at home moves others")
        elif reason := self.advisor.why_no_session():
            self.advisor.refuse(reason)
        else:
            self.advisor.resume_transfer(transfer)
            self._look()

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
