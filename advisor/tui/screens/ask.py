"""Small dialogues: a question, a few lines to fill in, and what is to be said of a session."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.markup import escape
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Static

from advisor.domain.advice import Advice, CameTrue, came_true
from advisor.domain.quantities import format_rate, format_rates, parse_duration, parse_size
from advisor.domain.records import RemarkRecord, TransferRecord
from advisor.store.errors import StoreError
from advisor.store.session_digests import SessionDigest

if TYPE_CHECKING:
    from advisor.tui.app import AdvisorApp

DIALOGUE_CSS = """
    align: center middle;
    #dialogue {
        width: 76; max-height: 90%; height: auto;
        background: $surface; border: round $primary; padding: 0 1;
    }
    #dialogue Input { margin-bottom: 1; }
    #dialogue #answers { height: auto; }
    #dialogue #answers Button { margin-right: 1; min-width: 10; height: 1; border: none; }
    #dialogue #wrong { color: $error; height: auto; }
"""
"""What all dialogues look like, to be put between the braces of their own style."""


class AskScreen(ModalScreen[bool]):
    """A question to be answered with yes or no; leaving it is a no."""

    DEFAULT_CSS = "AskScreen {" + DIALOGUE_CSS + "}"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str, yes: str) -> None:
        """`yes`: the word on the button that does it."""
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="dialogue", can_focus=False):
            yield Static(escape(self._question))
            with Horizontal(id="answers"):
                yield Button("No", id="no")
                yield Button(self._yes, id="yes", variant="warning")

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        self.dismiss(pressed.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A line to fill in. `check` raises ValueError with a sentence for what it cannot take."""

    name: str
    label: str
    placeholder: str = ""
    check: Callable[[str], object] = str


class EntryScreen(ModalScreen[dict[str, str] | None]):
    """Lines to fill in; gives what was entered by name, None when it was left."""

    DEFAULT_CSS = "EntryScreen {" + DIALOGUE_CSS + "}"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]

    def __init__(self, title: str, fields: Sequence[Field], done: str) -> None:
        """`done`: the word on the button that takes it."""
        super().__init__()
        self._title = title
        self._fields = fields
        self._done = done

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="dialogue", can_focus=False):
            yield Static(escape(self._title))
            for field in self._fields:
                yield Label(field.label)
                yield Input(placeholder=field.placeholder, id=f"field-{field.name}", compact=True)
            yield Static("", id="wrong")
            with Horizontal(id="answers"):
                yield Button("Leave", id="leave")
                yield Button(self._done, id="done", variant="primary")

    def on_input_submitted(self) -> None:
        """Enter goes to the next line; on the last one it takes them all."""
        inputs = list(self.query(Input))
        if self.focused in inputs[:-1]:
            self.focus_next()
        else:
            self._take()

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        if pressed.button.id == "done":
            self._take()
        else:
            self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)

    def _take(self) -> None:
        entered: dict[str, str] = {}
        for field in self._fields:
            line = self.query_one(f"#field-{field.name}", Input)
            try:
                field.check(line.value)
            except ValueError as error:
                self.query_one("#wrong", Static).update(escape(f"{field.label}: {error}"))
                line.focus()
                return
            entered[field.name] = line.value
        self.dismiss(entered)


CAME_TRUE: Final[dict[CameTrue, str]] = {
    "within": "within the interval",
    "above": "above the interval",
    "below": "below the interval",
}


def ask_for_transfer(
    app: "AdvisorApp",
    followed: Advice | SessionDigest,
    stored: Callable[[], None] = lambda: None,
) -> None:
    """Ask what a transfer gave that followed this, and store it; then call `stored`."""
    advice = followed if isinstance(followed, Advice) else followed.advice

    def entered(texts: dict[str, str] | None) -> None:
        if texts is None:
            return
        record = TransferRecord(
            pair=followed.pair,
            recorded_s=time.time(),
            session=followed.session,
            total_bytes=parse_size(texts["size"]),
            elapsed_s=parse_duration(texts["took"]),
            note=texts["note"].strip(),
        )
        try:
            app.store.append(record)
        except StoreError as error:
            app.refuse(str(error))
        else:
            interval_bps = advice.interval_bps if advice else None
            app.notify(verdict(record.rate_bps, interval_bps), title="Recorded")
            stored()

    fields = (
        Field(name="size", label="What was moved", placeholder="10TB", check=parse_size),
        Field(name="took", label="How long it took", placeholder="47min", check=parse_duration),
        Field(name="note", label="Anything to remember (may stay empty)"),
    )
    app.push_screen(EntryScreen("What the transfer gave", fields, "Record"), entered)


def verdict(rate_bps: float, interval_bps: tuple[float, float] | None) -> str:
    """Whether an advice came true, in a sentence."""
    if interval_bps is None:
        return f"{format_rate(rate_bps)}; there is no advice to compare it with."
    where = CAME_TRUE[came_true(rate_bps, interval_bps)]
    return f"{format_rate(rate_bps)}: {where} of the advice, {format_rates(*interval_bps)}."


def keep_remark(
    app: "AdvisorApp",
    session: SessionDigest,
    kind: Literal["note", "outlier", "deleted"],
    *,
    on: bool = True,
    text: str = "",
) -> bool:
    """Store a remark; whether that could be done, and a word on why where not."""
    remark = RemarkRecord(
        pair=session.pair,
        recorded_s=time.time(),
        session=session.session,
        kind=kind,
        text=text,
        on=on,
    )
    try:
        app.store.append(remark)
    except StoreError as error:
        app.refuse(str(error))
        return False
    return True


def ask_for_note(
    app: "AdvisorApp", sessions: Sequence[SessionDigest], stored: Callable[[], None]
) -> None:
    """Ask for a note and store it beside all of these; then call `stored`."""

    def not_empty(text: str) -> None:
        if not text.strip():
            raise ValueError("it is empty: write what is to be remembered")

    def entered(texts: dict[str, str] | None) -> None:
        if texts and all(keep_remark(app, s, "note", text=texts["text"]) for s in sessions):
            stored()

    which = sessions[0].session if len(sessions) == 1 else f"{len(sessions)} sessions"
    field = Field(name="text", label="Note", placeholder="measured on a Sunday", check=not_empty)
    app.push_screen(EntryScreen(f"A note beside {which}", [field], "Keep"), entered)
