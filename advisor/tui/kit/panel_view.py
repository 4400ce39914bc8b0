"""Panels that are shown all at once where there is room for them, else one of them alone."""

from collections.abc import Sequence
from typing import ClassVar

from textual.containers import Container
from textual.events import Resize


class PanelView(Container):
    """What of it has the class `panel` is one, with its name as id."""

    NAMES: ClassVar[Sequence[str]]
    """Of the panels that can be chosen, in their order."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self._chosen = self.NAMES[0]
        self._is_enlarged = False

    def on_mount(self) -> None:
        self._arrange()

    def on_resize(self, _: Resize) -> None:
        self._arrange()

    @property
    def _is_single(self) -> bool:
        """Whether there is room for one panel only."""
        raise NotImplementedError

    @property
    def _is_alone(self) -> bool:
        """Whether one panel is shown alone: there is no room for more, or it is asked for."""
        return self._is_single or self._is_enlarged

    def _arrange(self) -> None:
        """Mark with classes what is shown: `alone`, and of the panels `chosen`."""
        self.set_class(self._is_alone, "alone")
        for panel in self.query(".panel"):
            panel.set_class(panel.id == self._chosen, "chosen")

    def enlarge(self, panel: str) -> None:
        """Show one of NAMES alone; the same again, or "", shows all that there is room for."""
        is_shown = self._is_enlarged and panel == self._chosen
        self._is_enlarged = bool(panel) and not is_shown and not self._is_single
        self._choose(panel or self._chosen)

    def next_panel(self, by: int) -> None:
        """The one after, or before, the one that is shown alone, or has the focus."""
        index = self.NAMES.index(self._chosen)
        self._choose(self.NAMES[(index + by) % len(self.NAMES)])

    def _choose(self, panel: str) -> None:
        self._chosen = panel
        self._arrange()
        self.query_one(f"#{panel}").focus()
