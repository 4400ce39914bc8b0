"""A destination's row: whether it takes part, its request, bar and numbers."""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantBlur, Key
from textual.message import Message
from textual.widgets import Input

from advisor.domain.endpoints import is_in_lab
from advisor.domain.quantities import format_rate
from advisor.tui.features.shares.adjusting import LARGE_STEP, STEP
from advisor.tui.features.shares.rows import RateRow
from advisor.tui.features.shares.widgets.share_bar import ShareBar
from advisor.tui.kit.sentences import count_words
from advisor.tui.kit.static import Static

_BEGINS_TYPING: Final = frozenset("0123456789.@")
_LONGEST: Final = 12


class ShareRow(Horizontal, can_focus=True):
    """`show` a row in it. Typed text is reported at once, and again when the field is left."""

    HELP = (
        "[b]A destination[/b]\nDrag the mark of what is asked, or use left and right, with shift "
        "for larger steps. Or type: enter or a digit begins, enter accepts, escape cancels.\n"
        "  4        a share, beside the shares of the others\n"
        "  400Mbit  a rate\n"
        "  x1.5     a factor on what it gets with 2 files at a time to each\n"
        "  @3       3 files at a time, whatever they give\n"
        "The upper line is what it got, and the mark what is asked. The lower line is what is "
        "expected, which lies within the brackets nine times out of ten."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "go(1)", "Row down", show=False),
        Binding("up,k", "go(-1)", "Row up", show=False),
        Binding("right", f"step({STEP})", "Ask for more", show=False),
        Binding("left", f"step(-{STEP})", "Ask for less", show=False),
        Binding("shift+right", f"step({LARGE_STEP})", "Ask for much more", show=False),
        Binding("shift+left", f"step(-{LARGE_STEP})", "Ask for much less", show=False),
    ]
    DEFAULT_CSS = """
    ShareRow { height: 2; }
    ShareRow:focus, ShareRow:focus-within { background: $boost; }
    ShareRow:focus .who, ShareRow:focus-within .who { text-style: bold reverse; }
    ShareRow > Vertical { width: 23; height: 2; }
    ShareRow .who { height: 1; width: auto; max-width: 100%; }
    ShareRow .said { height: 1; }
    ShareRow .is { width: 4; text-align: right; color: $text-muted; padding-right: 1; }
    ShareRow Input { width: 10; background: $panel; }
    ShareRow .files { width: 1fr; padding-left: 1; color: $text-muted; }
    ShareRow .numbers { width: 21; height: 2; padding-left: 1; }
    ShareRow.-wide > Vertical { width: 27; }
    ShareRow.-wide .numbers { width: 40; }
    ShareRow.-out .who { color: $text-muted; }
    """

    class Typed(Message):
        """The text changed; `is_left`: typing ended."""

        def __init__(self, row: "ShareRow", text: str, *, is_left: bool) -> None:
            super().__init__()
            self.row = row
            self.text = text
            self.is_left = is_left

    class Stepped(Message):
        """The request was changed by this many steps."""

        def __init__(self, row: "ShareRow", by: int) -> None:
            super().__init__()
            self.row = row
            self.by = by

    class Dragged(Message):
        """The mark was dragged to this rate, in bit/s; `is_left`: the button was released."""

        def __init__(self, row: "ShareRow", rate_bps: float, *, is_left: bool) -> None:
            super().__init__()
            self.row = row
            self.rate_bps = rate_bps
            self.is_left = is_left

    def __init__(self, destination: str, name: str, text: str) -> None:
        """`name`: its short name. `text`: its request."""
        super().__init__()
        self.destination = destination
        self._short_name = name
        self.border_title = Content(destination)
        self._seen: RateRow | None = None
        self._is_wide = False
        self._before = text
        # Made here, because a row may be shown before it is composed.
        self._who = Static(classes="who")
        self._files = Static(classes="files")
        self._numbers = Static(classes="numbers")
        self._bar = ShareBar()
        self._input = Input(text, compact=True, select_on_focus=True, max_length=_LONGEST)
        self._input.border_title = Content(f"what is asked of {destination}")

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._who
            with Horizontal(classes="said"):
                yield Static("=", classes="is")
                yield self._input
                yield self._files
        yield self._bar
        yield self._numbers

    def show(self, seen: RateRow, top_bps: float, *, is_wide: bool) -> None:
        """Draw it on an axis from 0 to `top_bps`."""
        self._bar.show(seen, top_bps)
        if (seen, is_wide) == (self._seen, self._is_wide):
            return
        self._seen, self._is_wide = seen, is_wide
        self.set_class(is_wide, "-wide")
        self.set_class(not seen.is_in, "-out")
        self._who.update(Content(who(seen, self._short_name, 26 if is_wide else 22)))
        files = count_words(seen.concurrency, "file") if seen.concurrency else ""
        self._files.update(Content(files))
        self._numbers.update(Content("\n".join(numbers(seen, is_wide))))
        self._input.disabled = not seen.is_in

    def refill(self, text: str) -> None:
        """Show this text in its field."""
        self._before = text
        if self._input.value != text:
            with self.prevent(Input.Changed):
                self._input.value = text

    def action_go(self, by: int) -> None:
        """Focus the next or previous row."""
        if by > 0:
            self.screen.focus_next(ShareRow)
        else:
            self.screen.focus_previous(ShareRow)

    def action_step(self, by: int) -> None:
        """More, or less."""
        self.post_message(self.Stepped(self, by))

    def on_key(self, event: Key) -> None:
        """Start typing with a character or enter; escape restores the text."""
        if self._input.has_focus:
            if event.key == "escape":
                event.stop()
                self._input.value = self._before
                self.focus()
        elif self._seen and self._seen.is_in:
            begun_with = event.character if event.character in _BEGINS_TYPING else None
            if begun_with or event.key == "enter":
                event.stop()
                self._begin_typing(begun_with)

    def _begin_typing(self, begun_with: str | None) -> None:
        """Select the field's text, or replace it by `text`."""
        self._input.select_on_focus = begun_with is None
        if begun_with:
            self._input.value = begun_with
            self._input.cursor_position = len(begun_with)
        self._input.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self, event.value, is_left=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus()

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        """Accept the text when the field is left."""
        if event.widget is self._input and self._input.value != self._before:
            self._before = self._input.value
            self.post_message(self.Typed(self, self._input.value, is_left=True))

    def on_share_bar_dragged(self, event: ShareBar.Dragged) -> None:
        event.stop()
        self.post_message(self.Dragged(self, event.rate_bps, is_left=event.is_left))


def who(seen: RateRow, name: str, columns: int) -> str:
    """Whether it takes part, its name, and a mark for problems; in this many columns."""
    mark = "[x]" if seen.is_in else "[ ]"
    state = " ✓" if seen.is_there else " ✗" if seen.end or (seen.is_in and seen.missed) else ""
    room = columns - len(mark) - 1 - len(state)
    if len(name) > room:
        # Names of lab hosts differ at the end.
        name = f"…{name[1 - room :]}" if is_in_lab(name) else f"{name[: room - 1]}…"
    return f"{mark} {name}{state}"


def numbers(seen: RateRow, is_wide: bool) -> tuple[str, str]:
    """The request above the measured rate, or the prediction before any measurement."""
    if seen.asked is None:
        return "", ""
    asked = (
        seen.asked.words if seen.asked.held is not None else _labelled_rate("asked", seen.asked_bps)
    )
    expected = _labelled_rate("expected", seen.expected_bps)
    if seen.got_bps is None:
        return asked, expected
    got = _labelled_rate("got", seen.got_bps)
    if not is_wide:
        return asked, got
    now = _labelled_rate("now", seen.now_bps)
    return _joined(asked, expected), _joined(got, now)


def _joined(*words: str) -> str:
    return ", ".join(word for word in words if word)


def _labelled_rate(word: str, rate_bps: float | None) -> str:
    return f"{word} {format_rate(rate_bps)}" if rate_bps is not None else ""
