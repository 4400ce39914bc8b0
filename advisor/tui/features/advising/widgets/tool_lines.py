"""A tool that is not the first choice, in one line until it is opened."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from advisor.domain.advice import Command
from advisor.tui.features.advising.widgets.command_card import CommandCard, LineCard


class ToolLine(LineCard):
    """The line. Copies the tool's first command."""

    HELP = (
        "[b]Another tool[/b] It can move the data too. Enter shows its lines, c copies the first "
        "of them."
    )
    DEFAULT_CSS = "ToolLine { padding: 0 1; } ToolLine:focus { background-tint: $foreground 8%; }"

    def __init__(self, commands: Sequence[Command]) -> None:
        first = commands[0]
        super().__init__(first.shell, f"{first.tool} · on the {first.side}")
        sides = " and ".join(f"on the {command.side}" for command in commands)
        lines = "a line" if len(commands) == 1 else f"{len(commands)} lines"
        self._tool, self._lines = first.tool, f"{lines}, {sides}"

    def drawn(self) -> Table:
        table = Table.grid(expand=True, padding=(0, 2, 0, 0))
        table.add_column()
        table.add_column(ratio=1)
        mark, hint = ("▾", "close") if self.is_open else ("▸", "open")
        table.add_row(
            Text(f"{mark} {self._tool}"),
            self.styled(self._lines, "dim"),
            self.styled(f"enter {hint}", "dim"),
        )
        return table


class ToolLines(Vertical):
    """The line, and below it the tool's commands while it is open."""

    DEFAULT_CSS = """
    ToolLines { height: auto; }
    ToolLines > CommandCard { display: none; }
    ToolLines.open > CommandCard { display: block; }
    """

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__()
        self._commands = commands

    def compose(self) -> ComposeResult:
        yield ToolLine(self._commands)
        for command in self._commands:
            yield CommandCard(command)

    def on_line_card_toggled(self, event: LineCard.Toggled) -> None:
        """Show the commands, or hide them."""
        if isinstance(event.card, ToolLine):
            self.set_class(event.card.is_open, "open")
