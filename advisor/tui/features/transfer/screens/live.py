"""A tuned transfer live: its progress, its throughput by setting, and how to stop it."""

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static

from advisor.domain import events as ev
from advisor.domain import orders as o
from advisor.domain.advice import Fulfilment
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.space import Setting, flows_of
from advisor.report.plan import left_words
from advisor.tui.features.history.remarks import verdict
from advisor.tui.features.transfer.live_transfer import LiveTransfer
from advisor.tui.features.transfer.transfer_model import (
    TransferModel,
    concurrency_of,
    parallelism_of,
)
from advisor.tui.features.transfer.widgets.transfer_view import PANELS, TransferView
from advisor.tui.kit.dialogs import AskScreen
from advisor.tui.kit.drawing import ASCII
from advisor.tui.kit.local_time import local_time
from advisor.tui.kit.stop_gauges import bar
from advisor.tui.page import Page

_DRAWN_EVERY_S: Final = 1.0
_SHOWN_MISSING: Final = 2
_BAR_SHARE: Final = 0.3


class TransferLiveScreen(Page):
    """Shows the application's transfer, redrawn by one timer."""

    NAME = "Moving files"
    HELP = """[b]Moving files[/b]
Your files are moved, and meanwhile the setting is changed to what is fastest now: how many files at
a time, and over how many streams each. Time is cut into control epochs; after each, the method that
you chose looks at what arrived in it and says what is next. The upper chart is what arrives at the
destination, the lower one the setting.
Nothing has to be done. Leaving the screen does not stop it: Home shows the way back."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", "Stop", id="stop-moving", tooltip="What arrived is kept"),
        Binding("g", "go_on", "Go on", id="go-on-moving", tooltip="Resumes where it stopped"),
        *(
            Binding(str(i), f"enlarge('{name}')", f"Only: {name}", show=False)
            for i, name in enumerate(PANELS, 1)
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
    TransferLiveScreen #word.done { background: $success-muted; color: $text-success; }
    TransferLiveScreen #word.not-done { background: $warning-muted; color: $text-warning; }
    TransferLiveScreen #word.gave-up { background: $error-muted; color: $text-error; }
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

    def buttons(self) -> Iterable[Button]:
        yield Button("Back", id="back")
        yield Button("Stop", id="stop")
        yield Button("Go on", id="go-on", variant="primary")
        yield Button("Home", id="home")

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
        self.query_one("#head", Static).update(Content(head_words(model)))
        cells = max(10, int(self.size.width * _BAR_SHARE))
        lines = [*progress_lines(model, cells), *tuning_lines(model)]
        far = "\n".join(lines)
        if self.advisor.drawing == "ascii":
            far = far.translate(ASCII)
        self.query_one("#far", Static).update(Content(far))
        self._say_the_end(model)

    def _say_the_end(self, model: TransferModel) -> None:
        word = self.query_one("#word", Static)
        lines = end_lines(model)
        word.display = bool(lines)
        word.update(Content("\n".join(lines)))
        complete = bool(model.ended and model.ended.complete)
        word.set_class(complete, "done")
        word.set_class(bool(model.ended) and not complete, "not-done")
        word.set_class(model.gave_up is not None, "gave-up")
        self.query_one("#go-on").display = bool(lines) and not complete
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
                    "Stop moving files? What arrived is kept, and g goes on from there.", "Stop"
                ),
                self._stop_if,
            )

    def _stop_if(self, yes: bool | None) -> None:
        if yes and self._transfer:
            self._transfer.order(o.Stop())
            self.notify("Stopping: what arrived is kept.")

    def action_go_on(self) -> None:
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


def head_words(model: TransferModel) -> str:
    """The pair and the method."""
    started = model.started
    if started is None:
        return "… counting the files, and connecting to the other host"
    return (
        f"{started.pair.source} → {started.pair.destination}   tuned by {started.method}, "
        f"epochs of {format_duration(started.epoch_s)}"
    )


def progress_lines(model: TransferModel, cells: int) -> list[str]:
    """A progress bar of this many cells, and below it the rate and the time left."""
    moving, started, ended = model.moving, model.started, model.ended
    if started and ended:
        # A small transfer ends before any progress is reported.
        return [_there(ended.moved_bytes, ended.files, started, cells)]
    if started is None or moving is None:
        return []
    moved = sum(one.moved_bytes for one in moving.classes)
    now = [f"Now {format_rate(sum(one.rate_bps for one in moving.classes))}"]
    left = left_words(moving.left_s)
    if model.is_verifying:
        total = sum(one.total_bytes for one in moving.classes)
        compared = f"{format_bytes(moved)} of {format_bytes(total)} verified"
        far = f"{_bar(moved, total, cells)}, {compared}"
    else:
        far = _there(moved, sum(one.files for one in moving.classes), started, cells)
    return [far, ", ".join([*now, left] if left else now)]


def _there(moved_bytes: int, files: int, started: ev.TransferStarted, cells: int) -> str:
    return (
        f"{_bar(moved_bytes, started.total_bytes, cells)}, {format_bytes(moved_bytes)} of "
        f"{format_bytes(started.total_bytes)} there, {files:,} of {started.files:,} files"
    )


def _bar(done: int, total: int, cells: int) -> str:
    share = done / total if total else 0.0
    return f"{bar(share, cells)} {share:4.0%}"


def tuning_lines(model: TransferModel) -> list[str]:
    """The setting of the present epoch, and why it was chosen."""
    if model.started is None or model.is_over or model.is_verifying:
        return []
    epoch_s = model.at_s - model.epoch_began_s
    of = format_duration(model.started.epoch_s)
    lines = [f"{setting_words(model.setting)}; epoch {model.epoch}, {epoch_s:.0f} s of {of}"]
    if model.changed and model.changed.reason:
        lines.append(f"Why: {model.changed.reason}")
    return lines


def setting_words(setting: Setting) -> str:
    """`4 files at a time × 8 streams each = 32 streams`."""
    files, streams = concurrency_of(setting), parallelism_of(setting)
    return (
        f"{_counted(files, 'file')} at a time × {_counted(streams, 'stream')} each = "
        f"{flows_of(setting)} in all"
    )


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def end_lines(model: TransferModel) -> list[str]:
    """The outcome, what is missing, and whether an advice came true; empty before the end."""
    if model.gave_up:
        return [
            _sentence(model.gave_up.message),
            "Nothing is being moved. g tries again; escape goes back to correct the entries.",
        ]
    ended = model.ended
    if ended is None:
        return []
    lines = [_sentence(ended.message)]
    if not ended.complete:
        lines.append("Press g to resume.")
    if ended.advised:
        lines.append(came_true_words(ended.advised))
    return [*lines, *_missing_lines(ended)]


def _missing_lines(ended: ev.TransferEnded) -> list[str]:
    """The first missing files: the log has room for all."""
    lines = [f"✗ {line}" for line in ended.missing[:_SHOWN_MISSING]]
    more = ended.missing_files - len(lines)
    return [*lines, *([f"✗ and {more} more: 3 lists them"] if more > 0 else [])]


def came_true_words(fulfilment: Fulfilment) -> str:
    """The measured rate compared with the advice."""
    came = verdict(fulfilment.rate_bps, fulfilment.interval_bps)
    return f"The advice of {local_time(fulfilment.advised_s)}: {came}"


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].rstrip('.')}."
