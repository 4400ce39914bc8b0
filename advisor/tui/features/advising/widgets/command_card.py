"""Cards with a line to copy: a command with its flags explained, or a limit with its remedy."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.console import Group
from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.widgets import Static

from advisor.domain.advice import Command, Limit
from advisor.domain.quantities import format_rate
from advisor.report.flags import explained
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.sentences import capitalised

_FLAG_COLUMNS: Final = 24


class LineCard(Titled, Static, can_focus=True):
    """A card. `line`: the text to copy. Subclasses draw it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"card--line", "card--note", "card--flag"}
    DEFAULT_CSS = (
        f"LineCard {{ {PANEL_CSS} }}"
        + """
    LineCard { height: auto; }
    LineCard > .card--line { color: $advised; }
    LineCard > .card--note { color: $act; }
    LineCard > .card--flag { color: $text-secondary; }
    """
    )

    def __init__(self, line: str, title: str) -> None:
        super().__init__()
        self.line = line
        self.set_title(title)

    def on_mount(self) -> None:
        self._draw()
        self.app.theme_changed_signal.subscribe(self, lambda _: self._draw())

    def _draw(self) -> None:
        self.update(self.drawn())

    def drawn(self) -> Group:
        """The content of the card."""
        return Group(self.line_drawn())

    def line_drawn(self) -> Text:
        """The styled line."""
        return Text(self.line, self.style_of("line"))

    def style_of(self, part: str) -> Style:
        """The theme's style of a part: line, note or flag."""
        return self.get_component_rich_style(f"card--{part}", partial=True)


class CommandCard(LineCard):
    """A command line of an advice."""

    HELP = (
        "[b]A command line[/b] It runs as it is printed, on the host named above it; words in "
        "capitals are placeholders for what you did not enter. C copies it. Below it is what each "
        "of its flags does."
    )

    def __init__(self, command: Command) -> None:
        super().__init__(command.shell, f"{command.tool}, on the {command.side}")
        self._note = command.note
        self._flags = flag_lines(explained(command))

    def drawn(self) -> Group:
        flags = Table.grid(padding=(0, 2, 0, 0))
        flags.add_column(max_width=_FLAG_COLUMNS, overflow="fold", style=self.style_of("flag"))
        flags.add_column()
        for words, sentence in self._flags:
            flags.add_row(Text(words), Text(sentence))
        note = [Text(self._note, self.style_of("note"))] if self._note else []
        return Group(self.line_drawn(), *note, flags)


class RemedyCard(LineCard):
    """A limit of the transfer, and the command or sentence that lifts it."""

    HELP = (
        "[b]A limit[/b] What holds the transfer back now, and what lifts it. advisor never "
        "applies it: C copies the line, and you or the host's administrator run it."
    )

    def __init__(self, limit: Limit) -> None:
        where = f"on the {limit.side}" if limit.side else "on the path"
        super().__init__(limit.remedy, where)
        ceiling = limit.ceiling_bps
        reach = f" It allows {format_rate(ceiling)} at most." if ceiling is not None else ""
        self._what = f"{capitalised(limit.what)}.{reach}"

    def drawn(self) -> Group:
        return Group(Text(self._what), self.line_drawn())


def flag_lines(flags: Sequence[tuple[tuple[str, ...], str]]) -> list[tuple[str, str]]:
    """The flags with an explanation, one text each; a repeated flag is explained once."""
    said = ((" ".join(words), sentence) for words, sentence in flags if sentence)
    return list(dict.fromkeys(said))
