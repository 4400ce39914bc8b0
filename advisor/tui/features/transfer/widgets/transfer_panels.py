"""The panels above the charts: how far a transfer is, and what happened at its end."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from advisor.domain.shell import shell_line
from advisor.tui.features.transfer.end_texts import end_lines, end_title
from advisor.tui.features.transfer.texts import (
    left_or_state,
    pair_words,
    progress_lines,
    rate_words,
)
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.static import Static

_LEAST_CELLS: Final = 10
_BAR_SHARE: Final = 0.3


class TransferProgress(Titled, Static):
    """`show` a model: how far it is, how fast, its setting and why. Hidden after the end."""

    DEFAULT_CSS = (
        f"TransferProgress {{ {PANEL_CSS} }}"
        + """
    TransferProgress { height: auto; display: none; }
    """
    )

    def show(self, model: TransferModel) -> None:
        """Show the present state."""
        cells = max(_LEAST_CELLS, int(self.app.size.width * _BAR_SHARE))
        lines = progress_lines(model, cells)
        self.display = bool(lines)
        self.set_title(pair_words(model), left_or_state(model))
        self.update(Content("\n").join(lines))


class TransferResult(Titled, Vertical):
    """`show` a model: what happened, and a line that checks the copy again. Hidden before."""

    DEFAULT_CSS = (
        f"TransferResult {{ {PANEL_CSS} }}"
        + """
    TransferResult { height: auto; display: none; }
    TransferResult > Static { height: auto; }
    TransferResult > Copyable { color: $foreground; }
    """
    )

    def compose(self) -> ComposeResult:
        yield Static(id="result")
        yield Copyable(id="check")

    def show(self, model: TransferModel) -> None:
        """Show how it ended."""
        lines = end_lines(model)
        self.display = bool(lines)
        self.set_title(end_title(model), rate_words(model))
        self.query_one("#result", Static).update(Content("\n").join(lines))
        receipt = model.ended.receipt if model.ended else None
        line = shell_line(["advisor", "verify", receipt]) if receipt else ""
        self.query_one("#check", Copyable).hold(line, "check it later")
