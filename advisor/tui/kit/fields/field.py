"""A text field with its label, and below it what is wrong with the entry."""

from collections.abc import Callable
from typing import Any, cast

import msgspec
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Label

from advisor.tui.kit.marked import titled
from advisor.tui.kit.static import Static

Check = Callable[[str], Any]


class Field(Vertical):
    """One text of a draft, stored as it is typed; `attribute` is its name there.

    `check` raises ValueError with a sentence for an invalid text; an empty field is valid.
    `explained` is the help text; it is never markup.
    """

    DEFAULT_CSS = """
    Field { height: auto; }
    Field > Horizontal { height: 1; }
    Field Label { width: 17; color: $text-muted; }
    Field Input { width: 1fr; max-width: 80; }
    Field > .note { height: auto; margin-left: 17; color: $text-muted; display: none; }
    Field > .note.-said { display: block; }
    Field.-wrong > .note { color: $failed; }
    """

    class Changed(Message):
        """The text changed; the draft already has it."""

        def __init__(self, field: "Field") -> None:
            super().__init__()
            self.field = field

        @property
        def control(self) -> "Field":
            return self.field

    def __init__(
        self,
        label: str,
        attribute: str,
        draft: msgspec.Struct,
        *,
        check: Check | None = None,
        example: str = "",
        explained: str = "",
        suggester: Suggester | None = None,
    ) -> None:
        super().__init__(id=f"field-{attribute.replace('_', '-')}")
        self.label = label
        self._explained = explained
        self._attribute = attribute
        self._draft = draft
        self._check = check
        self._hint = ""
        self._found_wrong = ""
        self._kept = getattr(draft, attribute)
        self._input = Input(
            getattr(draft, attribute),
            placeholder=example,
            compact=True,
            select_on_focus=True,
            suggester=suggester,
        )
        self._input.border_title = Content(label)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Label(Content(self.label))
            yield self._input
        yield Static(classes="note")

    def on_mount(self) -> None:
        self._judge()

    @property
    def HELP(self) -> Content:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """The help text."""
        return titled(self.label, self._explained) if self._explained else Content("")

    @property
    def text(self) -> str:
        """Its text, without surrounding spaces."""
        return self._input.value.strip()

    @property
    def problem(self) -> str:
        """What is wrong with its text now, "" for a valid one: runs the check."""
        if not self.text or self._check is None:
            return ""
        try:
            self._check(self.text)
        except ValueError as error:
            return str(error)
        return ""

    def hint(self, words: str) -> None:
        """Show this below it while the text is valid, as it was judged when it changed."""
        self._hint = words
        self._show_note()

    def refill(self) -> None:
        """Show the draft's present text, if it was changed elsewhere; keep what is being typed."""
        text = cast(str, getattr(self._draft, self._attribute))
        if text != self._kept:
            self._kept = text
            with self.prevent(Input.Changed):
                self._input.value = text
            self._judge()

    def enter(self) -> None:
        """Focus it with its cursor at the end."""
        self._input.select_on_focus = False
        self._input.focus()

    def on_descendant_focus(self) -> None:
        """Select only what was there before: what is typed first replaces it, and no more."""
        self._input.select_on_focus = False

    def on_input_changed(self, event: Input.Changed) -> None:
        """Store it at once."""
        event.stop()
        self._kept = event.value
        setattr(self._draft, self._attribute, event.value)
        self._judge()
        self.post_message(self.Changed(self))

    def _judge(self) -> None:
        self._found_wrong = self.problem
        self._show_note()

    def _show_note(self) -> None:
        problem = self._found_wrong
        words = f"✗ {problem}" if problem else self._hint
        self.set_class(bool(problem), "-wrong")
        for note in self.query(".note").results(Static):
            note.update(Content(words))
            note.set_class(bool(words), "-said")


def first_problem(fields: "list[Field]") -> str:
    """The first problem among the visible fields, with the field's name."""
    for field in fields:
        if field.display and field.problem:
            return f"{field.label}: {field.problem}"
    return ""
