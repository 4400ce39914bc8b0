"""Panels that are shown together where there is room, else one at a time."""

from collections.abc import Sequence
from typing import ClassVar

from textual.containers import Container
from textual.events import Resize


class PanelView(Container):
    """Children with the class `panel` are its panels; the id is the name."""

    NAMES: ClassVar[Sequence[str]]
    """The panels that can be chosen, in order."""

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
        """Whether there is room for only one panel."""
        raise NotImplementedError

    @property
    def _is_alone(self) -> bool:
        """Whether one panel is shown alone, for lack of room or on request."""
        return self._is_single or self._is_enlarged

    def _arrange(self) -> None:
        """Set the classes that show panels: `alone`, and `chosen` on one panel."""
        self.set_class(self._is_alone, "alone")
        for panel in self.query(".panel"):
            panel.set_class(panel.id == self._chosen, "chosen")

    def enlarge(self, panel: str) -> None:
        """Show one of NAMES alone; the same name again, or "", shows all that fit."""
        is_shown = self._is_enlarged and panel == self._chosen
        self._is_enlarged = bool(panel) and not is_shown and not self._is_single
        self._choose(panel or self._chosen)

    def next_panel(self, by: int) -> None:
        """Move to the next or previous panel from the one shown alone, or focused."""
        index = self.NAMES.index(self._chosen)
        self._choose(self.NAMES[(index + by) % len(self.NAMES)])

    def _choose(self, panel: str) -> None:
        self._chosen = panel
        self._arrange()
        self.query_one(f"#{panel}").focus()
