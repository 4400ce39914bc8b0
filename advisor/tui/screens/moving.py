"""Moving, live: how far a tuned transfer is, what it gives at which setting, and how to end it."""

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
from advisor.tui.moving_story import MovingStory, concurrency_of, parallelism_of
from advisor.tui.running import LiveTransfer
from advisor.tui.screens.ask import AskScreen, verdict
from advisor.tui.step import Page
from advisor.tui.widgets.drawing import ASCII
from advisor.tui.widgets.moving_view import PANELS, MovingView
from advisor.tui.widgets.session_table import local_time
from advisor.tui.widgets.stop_gauges import bar

_DRAWN_EVERY_S: Final = 1.0
_SHOWN_MISSING: Final = 2
_BAR_SHARE: Final = 0.3


class MovingScreen(Page):
    """Shows the application's transfer, from one timer."""

    NAME = "Moving files"
    HELP = """[b]Moving files[/b]
Your files are moved, and meanwhile the setting is changed to what is fastest now: how many files at
a time, and over how many streams each. Time is cut into control epochs; after each, the method that
you chose looks at what arrived in it and says what is next. The upper chart is what arrives at the
destination, the lower one the setting.
Nothing has to be done. Leaving the screen does not stop it: Home shows the way back."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", "Stop", id="stop-moving", tooltip="What arrived stays there"),
        Binding("g", "go_on", "Go on", id="go-on-moving", tooltip="From where it stopped"),
        *(
            Binding(str(i), f"enlarge('{name}')", f"Only: {name}", show=False)
            for i, name in enumerate(PANELS, 1)
        ),
        Binding("0", "enlarge('')", "All panels", show=False),
        Binding("n", "panel(1)", "Next panel", id="next-panel"),
        Binding("N", "panel(-1)", "Panel before", show=False),
    ]
    DEFAULT_CSS = """
    MovingScreen #body { overflow-y: hidden; }
    MovingScreen #head { height: 1; }
    MovingScreen #far { height: auto; }
    MovingScreen #word { height: auto; padding: 0 1; }
    MovingScreen #word.done { background: $success-muted; color: $text-success; }
    MovingScreen #word.not-done { background: $warning-muted; color: $text-warning; }
    MovingScreen #word.gave-up { background: $error-muted; color: $text-error; }
    MovingScreen #empty { height: 1fr; content-align: center middle; text-align: center; }
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
        yield MovingView(id="view")
        yield Static(
            "No files are being moved.\n\nm at home (ctrl+g) asks what is to be moved and where "
            "to,\nand begins.",
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
        """Draw what is new; nothing while something else is shown."""
        if not self.is_mounted or self.app.screen is not self:
            return
        transfer = self._transfer
        self.query_one("#view").display = transfer is not None
        self.query_one("#empty").display = transfer is None
        if transfer:
            self._say(transfer)
            self.query_one(MovingView).show(transfer.story)

    def _say(self, transfer: LiveTransfer) -> None:
        story = transfer.story
        now = (story.version, transfer.is_running, id(story))
        if now == self._said:
            return
        self._said = now
        self.query_one("#head", Static).update(Content(head_words(story)))
        cells = max(10, int(self.size.width * _BAR_SHARE))
        lines = [*progress_lines(story, cells), *tuning_lines(story)]
        far = "\n".join(lines)
        if self.advisor.drawing == "ascii":
            far = far.translate(ASCII)
        self.query_one("#far", Static).update(Content(far))
        self._say_the_end(story)

    def _say_the_end(self, story: MovingStory) -> None:
        word = self.query_one("#word", Static)
        lines = end_lines(story)
        word.display = bool(lines)
        word.update(Content("\n".join(lines)))
        complete = bool(story.ended and story.ended.complete)
        word.set_class(complete, "done")
        word.set_class(bool(story.ended) and not complete, "not-done")
        word.set_class(story.gave_up is not None, "gave-up")
        self.query_one("#go-on").display = bool(lines) and not complete
        self.query_one("#stop").display = not lines

    def action_home(self) -> None:
        self.advisor.action_home()

    def action_stop(self) -> None:
        """End it, after a question."""
        transfer = self._transfer
        if transfer is None:
            self.advisor.refuse("no files are being moved: m at home begins")
        elif not transfer.is_running or transfer.story.is_over:
            self.advisor.refuse("it is over: nothing is being moved any more")
        else:
            self.app.push_screen(
                AskScreen(
                    "Stop moving files? What arrived stays there, and g goes on from there.", "Stop"
                ),
                self._stop_if,
            )

    def _stop_if(self, yes: bool | None) -> None:
        if yes and self._transfer:
            self._transfer.order(o.Stop())
            self.notify("Stopping: what arrived stays there.")

    def action_go_on(self) -> None:
        """Begin again what did not come to its end."""
        transfer = self._transfer
        if transfer is None:
            self.advisor.refuse("there is nothing to go on with: m at home begins")
        elif transfer.is_running:
            self.advisor.refuse("it is under way: g is for a transfer that did not get to its end")
        elif transfer.story.ended and transfer.story.ended.complete:
            self.advisor.refuse("all files are there: m at home moves others")
        elif reason := self.advisor.why_no_session():
            self.advisor.refuse(reason)
        else:
            self.advisor.go_on_moving(transfer)
            self._look()

    def action_enlarge(self, panel: str) -> None:
        """One panel alone."""
        self.query_one(MovingView).enlarge(panel)

    def action_panel(self, by: int) -> None:
        """The next panel alone."""
        self.query_one(MovingView).next_panel(by)

    def action_back(self) -> None:
        """Leave; what runs goes on."""
        if self._transfer and self._transfer.is_running:
            self.notify("Files go on being moved: f at home leads back.")
        super().action_back()


def head_words(story: MovingStory) -> str:
    """The pair and how it is tuned."""
    started = story.started
    if started is None:
        return "… counting the files, and reaching the other host"
    return (
        f"{started.pair.source} → {started.pair.destination}   tuned by {started.method}, "
        f"epochs of {format_duration(started.epoch_s)}"
    )


def progress_lines(story: MovingStory, cells: int) -> list[str]:
    """A bar of so many cells with how much is there, and below it how fast and how long yet."""
    moving, started, ended = story.moving, story.started, story.ended
    if started and ended:
        # A small one is over before anything was said of how far it is.
        return [_there(ended.moved_bytes, ended.files, started, cells)]
    if started is None or moving is None:
        return []
    moved = sum(one.moved_bytes for one in moving.classes)
    now = [f"Now {format_rate(sum(one.rate_bps for one in moving.classes))}"]
    left = left_words(moving.left_s)
    if story.is_verifying:
        total = sum(one.total_bytes for one in moving.classes)
        compared = f"{format_bytes(moved)} of {format_bytes(total)} read again and compared"
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


def tuning_lines(story: MovingStory) -> list[str]:
    """The setting of the epoch under way, and why it is this one."""
    if story.started is None or story.is_over or story.is_verifying:
        return []
    epoch_s = story.at_s - story.epoch_began_s
    of = format_duration(story.started.epoch_s)
    lines = [f"{setting_words(story.setting)}; epoch {story.epoch}, {epoch_s:.0f} s of {of}"]
    if story.changed and story.changed.reason:
        lines.append(f"Why: {story.changed.reason}")
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


def end_lines(story: MovingStory) -> list[str]:
    """What became of it, what is missing, and whether an advice came true; none before its end."""
    if story.gave_up:
        return [
            _sentence(story.gave_up.message),
            "Nothing is being moved. g tries again; escape goes back to mend what was entered.",
        ]
    ended = story.ended
    if ended is None:
        return []
    lines = [_sentence(ended.message)]
    if not ended.complete:
        lines.append("Press g to go on.")
    if ended.advised:
        lines.append(came_true_words(ended.advised))
    return [*lines, *_missing_lines(ended)]


def _missing_lines(ended: ev.TransferEnded) -> list[str]:
    """The first of them: the log has more room."""
    lines = [f"✗ {line}" for line in ended.missing[:_SHOWN_MISSING]]
    more = ended.missing_files - len(lines)
    return [*lines, *([f"✗ and {more} more: 3 lists them"] if more > 0 else [])]


def came_true_words(fulfilment: Fulfilment) -> str:
    """Beside what was advised."""
    came = verdict(fulfilment.rate_bps, fulfilment.interval_bps)
    return f"The advice of {local_time(fulfilment.advised_s)}: {came}"


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].rstrip('.')}."
