"""What holds the transfer back now, a row for each limit."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from advisor.domain.advice import Limit
from advisor.tui.features.advising.widgets.command_card import RemedyCard
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled


class LimitsPanel(Titled, Vertical):
    """The limits in a frame."""

    DEFAULT_CSS = f"LimitsPanel {{ {PANEL_CSS} height: auto; }}"

    def __init__(self, limits: Sequence[Limit]) -> None:
        super().__init__()
        self._limits = limits
        self.set_title("Holding you back", "enter fix · c copy fix")

    def compose(self) -> ComposeResult:
        for limit in self._limits:
            yield RemedyCard(limit)

    def on_descendant_focus(self) -> None:
        self._fit_title(is_focused=True)

    def on_descendant_blur(self) -> None:
        self._fit_title(is_focused=False)
