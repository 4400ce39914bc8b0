"""Cards with a line to copy: a command and its flags, or a limit and its remedy.

Enter or a click shows more of a card or less; `c` copies its line.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message

from advisor.domain.advice import Command, Limit
from advisor.report.flags import explained
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.sentences import capitalised
from advisor.tui.kit.static import Static

_FLAG_COLUMNS: Final = 24
_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) ")


class LineCard(Static, can_focus=True):
    """A card. `line`: the text to copy; `about`: what it is. Subclasses draw it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"card--line", "card--note", "card--flag", "card--dim"}
    DEFAULT_CSS = """
    LineCard { height: auto; pointer: pointer; }
    LineCard.row { border-left: blank; padding: 0 1 0 0; }
    LineCard.row:focus { border-left: outer $focus; text-style: bold; }
    LineCard > .card--line { color: $advised; }
    LineCard > .card--note { color: $act; }
    LineCard > .card--flag { color: $blue; }
    LineCard > .card--dim { color: $default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "more", "More or less", show=False),
    ]

    class Toggled(Message):
        """A card shows more of itself now, or less."""

        def __init__(self, card: "LineCard") -> None:
            super().__init__()
            self.card = card

    is_open = False

    def __init__(self, line: str, about: str) -> None:
        super().__init__()
        self.line = line
        self.about = about

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self.draw())
        self.draw()

    def on_click(self) -> None:
        self.action_more()

    def action_more(self) -> None:
        """Show more of it, or less."""
        self.is_open = not self.is_open
        self.draw()
        self.post_message(self.Toggled(self))

    def draw(self) -> None:
        """Draw it as it stands."""
        self.update(self.drawn())

    def drawn(self) -> RenderableType:
        """The content of the card."""
        raise NotImplementedError

    def styled(self, text: str, part: str) -> Text:
        """Text in the theme's style of a part: line, note, flag or dim."""
        return Text(text, self.style_of(part))

    def style_of(self, part: str) -> Style:
        """The theme's style of a part."""
        return self.get_component_rich_style(f"card--{part}", partial=True)


class CommandCard(Titled, LineCard):
    """A command line of advice, with the first sentence of its note; open, all about it."""

    HELP = (
        "[b]A command line[/b] It runs as it is printed, on the host named above it, once the "
        "placeholders that the note names are replaced. c copies it. Enter shows the whole note "
        "and what each flag does."
    )
    DEFAULT_CSS = f"CommandCard {{ {PANEL_CSS} }}"

    def __init__(self, command: Command) -> None:
        super().__init__(command.shell, f"{command.tool} · on the {command.side}")
        self._note = command.note
        self._flags = flag_lines(explained(command))

    def draw(self) -> None:
        more = "less" if self.is_open else "flags"
        self.set_title(self.about, f"enter {more} · c copy")
        super().draw()

    def drawn(self) -> Group:
        parts: list[RenderableType] = [self.styled(self.line, "line")]
        if self._note:
            parts.append(
                _hanging(self.styled("!", "note"), self.styled(self._note_shown(), "note"))
            )
        if self.is_open and self._flags:
            parts.append(self._flag_table())
        return Group(*parts)

    def _note_shown(self) -> str:
        sentences = _SENTENCE_END.split(self._note)
        return self._note if self.is_open or len(sentences) == 1 else f"{sentences[0]} …"

    def _flag_table(self) -> Table:
        flags = Table.grid(padding=(0, 2, 0, 0))
        flags.add_column(max_width=_FLAG_COLUMNS, overflow="fold", style=self.style_of("flag"))
        flags.add_column()
        for words, sentence in self._flags:
            flags.add_row(Text(words), Text(sentence))
        return flags


class RemedyCard(LineCard):
    """A limit of the transfer in one row; open, with the command or sentence that lifts it."""

    HELP = (
        "[b]A limit[/b] What holds the transfer back now. Enter shows what lifts it. advisor never "
        "applies it: c copies the line, and you or the host's administrator run it."
    )

    def __init__(self, limit: Limit) -> None:
        where = f"on the {limit.side}" if limit.side else "on the path"
        super().__init__(limit.remedy, capitalised(where))
        self.add_class("row")
        self._what = f"{capitalised(where)}: {limit.what}"

    def drawn(self) -> Group:
        what = _hanging(self.styled("✗", "note"), Text(self._what))
        return Group(what, self.styled(f"  {self.line}", "line")) if self.is_open else Group(what)


def _hanging(mark: Text, text: Text) -> Table:
    """The text after its mark, its further lines below itself."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_row(mark, text)
    return table


def flag_lines(flags: Sequence[tuple[tuple[str, ...], str]]) -> list[tuple[str, str]]:
    """The flags with an explanation, one text each; a repeated flag is explained once."""
    said = ((" ".join(words), sentence) for words, sentence in flags if sentence)
    return list(dict.fromkeys(said))
