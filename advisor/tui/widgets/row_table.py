"""A table of rows to choose from, with the arrows or as vim does."""

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable


class RowTable(DataTable[Text]):
    """Its rows are known by their keys, and `fill` leaves the cursor on the one it was on."""

    DEFAULT_CSS = """
    RowTable { height: auto; max-height: 24; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Row down", show=False, id="row-down"),
        Binding("k", "cursor_up", "Row up", show=False, id="row-up"),
    ]

    def __init__(self, title: str, *columns: str, id: str | None = None) -> None:  # noqa: A002  # as every widget of Textual has it
        super().__init__(cursor_type="row", zebra_stripes=False, id=id)
        self.border_title = title
        self._names = columns
        self._rows: list[tuple[str, tuple[Text, ...]]] = []

    def on_mount(self) -> None:
        self.add_columns(*self._names)
        self._draw()

    def fill(self, rows: list[tuple[str, tuple[Text, ...]]]) -> None:
        """Other rows, each a key and its cells; nothing is drawn when they are the same."""
        if rows == self._rows:
            return
        self._rows = rows
        if self.columns:
            self._draw()

    def _draw(self) -> None:
        at = self.chosen
        self.clear()
        for key, cells in self._rows:
            self.add_row(*cells, key=key)
        keys = [key for key, _ in self._rows]
        if at in keys:
            self.move_cursor(row=keys.index(at))

    @property
    def chosen(self) -> str:
        """The key of the row under the cursor, "" where there is none."""
        if not self.is_valid_row_index(self.cursor_row):
            return ""
        return self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value or ""
