"""A command line to be copied, which fixes a problem or lifts a limit."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from advisor.domain.problem import Problem
from advisor.tui.kit.copying.clipboard import copied_message
from advisor.tui.kit.static import Static


class Copyable(Static, can_focus=True):
    """Enter, c or a click copies it, also through ssh and tmux (OSC 52). Hidden while empty."""

    HELP = (
        "[b]A line to copy[/b]\nIt is never run here. Enter, c or a click puts it on your "
        "clipboard, also over ssh, where your terminal allows it (OSC 52)."
    )
    DEFAULT_CSS = """
    Copyable { height: auto; padding: 0 1; background: $boost; color: $advised; }
    Copyable:focus { background: $primary-muted; text-style: bold; }
    Copyable:hover { background: $primary-muted; }
    Copyable.-empty { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c,enter", "copy", "Copy this line", id="copy-line"),
    ]

    def __init__(self, line: str = "", where: str = "", *, id: str | None = None) -> None:  # noqa: A002  # as every widget of Textual has it
        super().__init__(id=id)
        self.border_title = "Line to copy"
        self.line = ""
        self.hold(line, where)

    def hold(self, line: str, where: str = "") -> None:
        """Show this line, and the host to run it on; "" for none."""
        self.line = line
        head = f"{where}: " if where else ""
        self.update(Content.assemble((head, "$default"), line, ("  c copy", "$default")))
        self.set_class(not line, "-empty")

    def mend(self, problem: Problem | None) -> None:
        """Show the command of a problem, and where to run it; nothing if it has none."""
        if problem is None or not problem.command:
            self.hold("")
            return
        where = f"on {problem.host}" if problem.host else "run here"
        self.hold(problem.command, where + (f", in {problem.folder}" if problem.folder else ""))

    def on_click(self) -> None:
        self.action_copy()

    def action_copy(self) -> None:
        """Copy it to the clipboard."""
        if self.line:
            self.notify(copied_message(self.app, self.line))
