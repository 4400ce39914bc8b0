"""The table of past sessions: sortable, filterable, with marks."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import ClassVar, Final

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable
from textual.widgets.data_table import RowKey

from advisor.store.session_digests import SessionDigest
from advisor.tui.features.history.widgets.session_columns import (
    COLUMNS,
    FULL,
    SessionColumn,
    fitted_widths,
    look_of,
    natural_widths,
    shortened_look,
)
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled

_MARK: Final = Text("●")
_NO_MARK: Final = Text("")
_AT_ONCE: Final = 200
_BETWEEN_S: Final = 0.03
_AROUND: Final = 10
"""Terminal columns beside the cells: the frame, the body's margin, the scrollbar, the marks."""


class _Cell:
    """A cell whose text is made when it is drawn: most cells of a long list never are."""

    __slots__ = ("_column", "_session", "_table")

    def __init__(
        self, table: "SessionTable", column: SessionColumn, session: SessionDigest
    ) -> None:
        self._table = table
        self._column = column
        self._session = session

    def __rich__(self) -> Text:
        column, session = self._column, self._session
        return Text(
            column.cell(session, self._table.look),
            "dim" if session.outlier else self._table.style_of(column.role(session)),
            justify="right" if column.numeric else "left",
            no_wrap=True,
            overflow="ellipsis",
        )


class SessionTable(Titled, DataTable[Text | _Cell]):
    """`show` sessions. `chosen`: the selected one; `marked`: those marked with space."""

    HELP = (
        "[b]Past sessions[/b] One per line. Enter opens it. Space marks it, b shows the marked "
        "ones side by side; other actions apply to all marked ones, or to the selected one. A "
        "click on a column's name sorts by it, a second one reverses the order; so does its "
        "number. [b]came true[/b]: the rate of the real transfer, compared with the advised "
        "interval."
    )
    DEFAULT_CSS = (
        f"SessionTable {{ {PANEL_CSS} }}"
        + """
    SessionTable { height: 1fr; background: $background; scrollbar-size: 1 1; }
    SessionTable > .datatable--header {
        background: $background; color: $default; text-style: none;
    }
    SessionTable:focus { background-tint: transparent; }
    SessionTable > .datatable--fixed { background: $background; color: $foreground; }
    SessionTable > .datatable--fixed-cursor, SessionTable:focus > .datatable--fixed-cursor {
        background: $focus 30%; color: $foreground; text-style: bold;
    }
    SessionTable > .session--advised { color: $advised; }
    SessionTable > .session--act { color: $act; }
    SessionTable > .session--failed { color: $failed; }
    SessionTable > .session--plain { color: $foreground; }
    """
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "session--advised",
        "session--act",
        "session--failed",
        "session--plain",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Row down", show=False, id="row-down"),
        Binding("k", "cursor_up", "Row up", show=False, id="row-up"),
        Binding("h", "scroll_left", "Left", show=False),
        Binding("l", "scroll_right", "Right", show=False),
        Binding("g", "scroll_top", "First", show=False),
        Binding("G", "scroll_bottom", "Last", show=False),
        Binding("ctrl+d", "page_down", "Page down", show=False),
        Binding("ctrl+u", "page_up", "Page up", show=False),
        Binding("space", "mark", "Mark", id="mark"),
        *(
            Binding(str(n), f"sort({n})", f"Sort by {column.name}", show=False)
            for n, column in enumerate(COLUMNS, 1)
        ),
    ]

    class Changed(Message):
        """Rows or marks changed."""

    def __init__(self, id: str | None = None) -> None:  # noqa: A002  # as every widget of Textual has it
        super().__init__(cursor_type="row", header_height=2, id=id)
        self.set_title("Sessions")
        self.marked: dict[str, SessionDigest] = {}
        self.sorted_by = COLUMNS[0]
        self.downwards = True
        self._sessions: list[SessionDigest] = []
        self._rows: list[SessionDigest] = []
        self._rest: Iterator[SessionDigest] = iter(())
        self._text_of: dict[str, str] = {}
        self._is_ready = False
        self._words: list[str] = []
        self._widths: dict[str, int] = {}
        self._width_for = 0
        self.look = FULL

    def on_mount(self) -> None:
        self._is_ready = True
        self._arrange()

    def on_resize(self, _: Resize) -> None:
        if self._widths and self.app.size.width != self._width_for:
            self._fit()
            self._arrange()

    def show(self, sessions: Sequence[SessionDigest]) -> None:
        """Show these sessions; marks and cursor stay on those that remain."""
        self._sessions = list(sessions)
        self._text_of.clear()
        by_key = {key_of(s): s for s in sessions}
        self._widths = {}
        self.marked = {key: by_key[key] for key in self.marked if key in by_key}
        self._arrange()

    def filter(self, text: str) -> None:
        """Show only sessions that contain every word of the text."""
        self._words = text.lower().split()
        self._arrange()

    def sort_by(self, name: str) -> None:
        """Sort by that column; a second time reverses the order."""
        column = next(c for c in COLUMNS if c.name == name)
        same = column is self.sorted_by
        self.downwards = not self.downwards if same else column.downwards
        self.sorted_by = column
        self._arrange()

    @property
    def shown(self) -> list[SessionDigest]:
        """The sessions that pass the filter, in order."""
        return self._rows

    @property
    def chosen(self) -> SessionDigest | None:
        """The selected session."""
        here = self.is_valid_row_index(self.cursor_row) and self.cursor_row < len(self._rows)
        return self._rows[self.cursor_row] if here else None

    @property
    def meant(self) -> list[SessionDigest]:
        """The marked sessions, else the selected one."""
        if self.marked:
            return sorted(self.marked.values(), key=lambda s: s.began_s)
        return [self.chosen] if self.chosen else []

    def _arrange(self) -> None:
        if not self._is_ready:
            return
        chosen = self.chosen
        self._rows = sorted(
            filter(self._is_wanted, self._sessions), key=self.sorted_by.key, reverse=self.downwards
        )
        if not self._widths:
            self._fit()
        self.clear(columns=True)
        self.add_column("", width=1, key="mark")
        for column in self._columns:
            arrow = ("▼" if self.downwards else "▲") if column is self.sorted_by else ""
            heading = Text(
                column.heading(self.look.unit, arrow), justify="right" if column.numeric else "left"
            )
            self.add_column(heading, width=self._widths[column.name], key=column.name)
        self.fixed_columns = 2
        self._rest = iter(self._rows)
        self._add_some()
        keys = [key_of(session) for session in self._rows]
        if chosen and key_of(chosen) in keys:
            wanted = keys.index(key_of(chosen))
            while wanted >= self.row_count:
                self._add_some()
            self.move_cursor(row=wanted)
        self.post_message(self.Changed())

    def _add_some(self) -> None:
        """Add rows for a few screens; the rest follow between keys: thousands take a while."""
        some = list(islice(self._rest, _AT_ONCE))
        for session in some:
            key = key_of(session)
            self.add_row(
                _MARK if key in self.marked else _NO_MARK,
                *(_Cell(self, column, session) for column in self._columns),
                key=key,
            )
        if len(some) == _AT_ONCE:
            self.set_timer(_BETWEEN_S, self._add_some)

    @property
    def _columns(self) -> list[SessionColumn]:
        return [column for column in COLUMNS if column.name in self._widths]

    def _is_wanted(self, session: SessionDigest) -> bool:
        if not self._words:
            return True
        key = key_of(session)
        if key not in self._text_of:
            self._text_of[key] = _text_of(session)
        return all(word in self._text_of[key] for word in self._words)

    def _update_dimensions(self, new_rows: Iterable[RowKey]) -> None:
        # Widths and heights are fixed: measuring thousands of cells would take seconds.
        super()._update_dimensions(())

    def _fit(self) -> None:
        """Choose the columns, their widths, and short names of hosts where full ones are cut."""
        self._width_for = self.app.size.width
        self.look = look_of(self._sessions)
        natural = natural_widths(self._sessions, self.look)
        room = self._width_for - _AROUND - 2 * len(natural)
        if sum(natural.values()) > room:
            self.look = shortened_look(self.look, self._sessions)
            natural = natural_widths(self._sessions, self.look)
        self._widths = fitted_widths(natural, room)

    def style_of(self, role: str) -> Style:
        """The colour of a role in the present theme."""
        return self.get_component_rich_style(f"session--{role}", partial=True)

    def action_mark(self) -> None:
        """Toggle the mark of the selected session, and move to the next."""
        session = self.chosen
        if session is None:
            return
        key = key_of(session)
        if self.marked.pop(key, None) is None:
            self.marked[key] = session
        mark = _MARK if key in self.marked else _NO_MARK
        self.update_cell_at(Coordinate(self.cursor_row, 0), mark)
        self.action_cursor_down()
        self.post_message(self.Changed())

    def action_sort(self, number: int) -> None:
        """Sort by the column of that number."""
        self.sort_by(COLUMNS[number - 1].name)

    def on_data_table_header_selected(self, selected: DataTable.HeaderSelected) -> None:
        selected.stop()
        if (name := selected.column_key.value) in self._widths:
            self.sort_by(str(name))


def key_of(session: SessionDigest) -> str:
    """A key that is unique among the sessions of all pairs."""
    return f"{session.pair}\0{session.session}"


def _text_of(session: SessionDigest) -> str:
    """The text that a filter searches."""
    words = [column.cell(session, FULL) for column in COLUMNS if not column.is_rate]
    words += [session.session, session.method, *session.transports, session.origin]
    words += [note.text for note in session.notes]
    return " ".join(words).lower()
