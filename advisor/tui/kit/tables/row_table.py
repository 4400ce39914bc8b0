"""A table of rows to choose from, with the arrows or vim's keys."""

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable
from textual.widgets.data_table import RowKey

from advisor.tui.kit.panels.titled import PANEL_CSS, Titled


class RowTable(Titled, DataTable[Text]):
    """Rows are identified by keys; `fill` keeps the cursor on its row."""

    DEFAULT_CSS = (
        f"RowTable {{ {PANEL_CSS} }}"
        + """
    RowTable { height: auto; max-height: 24; background: $background; }
    RowTable > .datatable--header { background: $background; color: $default; text-style: none; }
    """
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Row down", show=False, id="row-down"),
        Binding("k", "cursor_up", "Row up", show=False, id="row-up"),
    ]

    def __init__(self, title: str, *columns: str, id: str | None = None) -> None:  # noqa: A002  # as every widget of Textual has it
        super().__init__(cursor_type="row", zebra_stripes=False, id=id)
        self.set_title(title)
        self._names = columns
        self._rows: list[tuple[str, tuple[Text, ...]]] = []
        self._has_begun = False

    def on_mount(self) -> None:
        self._has_begun = True
        self.add_columns(*map(Text, self._names))
        self._draw()

    def fill(self, rows: list[tuple[str, tuple[Text, ...]]], columns: tuple[str, ...] = ()) -> None:
        """Set the rows, each a key and its cells; nothing is drawn when they are unchanged.

        `columns`: new names of the columns.
        """
        columns = columns or self._names
        if (rows, columns) == (self._rows, self._names):
            return
        renamed = columns != self._names
        self._rows, self._names = rows, columns
        if self._has_begun:
            self._draw(renamed=renamed)

    def _draw(self, *, renamed: bool = False) -> None:
        at = self.chosen
        self.clear(columns=renamed)
        if renamed:
            self.add_columns(*map(Text, self._names))
        for key, cells in self._rows:
            self.add_row(*cells, key=key)
        keys = [key for key, _ in self._rows]
        if at in keys:
            self.move_cursor(row=keys.index(at))

    def _update_dimensions(self, new_rows: Iterable[RowKey]) -> None:
        super()._update_dimensions(new_rows)
        # A header that was drawn before the rows were measured is too narrow.
        self._clear_caches()

    @property
    def chosen(self) -> str:
        """The key of the row under the cursor, "" where there is none."""
        if not self.is_valid_row_index(self.cursor_row):
            return ""
        return self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value or ""
