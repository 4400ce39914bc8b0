"""The table of past sessions: sortable, filterable, with marks."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import ClassVar, Final

import msgspec
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable
from textual.widgets.data_table import RowKey

from advisor.domain.quantities import format_rate
from advisor.store.session_digests import SessionDigest
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.times import local_time

_MARK: Final = Text("●")
_NO_MARK: Final = Text("")
_AT_ONCE: Final = 200
_BETWEEN_S: Final = 0.03


class SessionColumn(msgspec.Struct, frozen=True):
    """One column: the text of a cell, and the sort key."""

    name: str
    width: int
    cell: Callable[[SessionDigest], str]
    key: Callable[[SessionDigest], str | float]
    downwards: bool = True


def _advised(session: SessionDigest) -> str:
    advice = session.advice
    return f"{advice.subject} {format_rate(advice.expected_bps)}" if advice else ""


def _best_result(session: SessionDigest) -> str:
    best = session.best
    return f"{best.subject} {format_rate(best.throughput_bps)}" if best else ""


def _gain_factor(session: SessionDigest) -> str:
    gain = session.advice.gain if session.advice else None
    return f"× {gain.value:.2f}" if gain else ""


def _gain_value(session: SessionDigest) -> float:
    gain = session.advice.gain if session.advice else None
    return gain.value if gain else -math.inf


def _state(session: SessionDigest) -> str:
    return f"outlier, {session.state}" if session.outlier else session.state


def _probes(session: SessionDigest) -> str:
    failed = f" ({session.failures} failed)" if session.failures else ""
    return f"{session.probes}{failed}"


def _came_true(session: SessionDigest) -> str:
    return session.transfers[-1].came_true or "no advice" if session.transfers else ""


COLUMNS: Final = (
    SessionColumn("began", 16, lambda s: local_time(s.began_s), lambda s: s.began_s),
    SessionColumn("pair", 17, lambda s: str(s.pair), lambda s: str(s.pair), downwards=False),
    SessionColumn("state", 11, _state, _state, downwards=False),
    SessionColumn(
        "best", 15, _best_result, lambda s: s.best.throughput_bps if s.best else -math.inf
    ),
    SessionColumn(
        "advised", 15, _advised, lambda s: s.advice.expected_bps if s.advice else -math.inf
    ),
    SessionColumn("gain", 6, _gain_factor, _gain_value),
    SessionColumn("probes", 7, _probes, lambda s: float(s.probes)),
    SessionColumn("came true", 10, _came_true, _came_true),
)
"""`width` is the minimum: extra width goes to the pair first, then to the others."""

_WIDEN: Final = {"pair": 30, "state": 14, "probes": 12}


class _Cell:
    """A cell whose text is made when it is drawn: most cells of a long list never are."""

    __slots__ = ("_column", "_session")

    def __init__(self, column: SessionColumn, session: SessionDigest) -> None:
        self._column = column
        self._session = session

    def __rich__(self) -> Text:
        style = "dim" if self._session.outlier else ""
        return Text(self._column.cell(self._session), style, no_wrap=True, overflow="ellipsis")


class SessionTable(Titled, DataTable[Text | _Cell]):
    """`show` sessions. `chosen`: the selected one; `marked`: those marked with space."""

    HELP = (
        "[b]Past sessions[/b] One per line. Enter opens it. Space marks it, b shows the marked "
        "ones side by side; other actions apply to all marked ones, or to the selected one. A "
        "click on a column's name sorts by it, a second one reverses the order; so does its "
        "number. [b]came true[/b]: the result of the real transfer, against the advised "
        "interval."
    )
    DEFAULT_CSS = (
        f"SessionTable {{ {PANEL_CSS} }}"
        + """
    SessionTable { height: 1fr; }
    SessionTable > .datatable--header {
        background: $background; color: $default; text-style: none;
    }
    """
    )
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
        super().__init__(cursor_type="row", zebra_stripes=True, id=id)
        self.set_title("Sessions")
        self.marked: dict[str, SessionDigest] = {}
        self.sorted_by = COLUMNS[0]
        self.downwards = True
        self._sessions: list[SessionDigest] = []
        self._rows: list[SessionDigest] = []
        self._rest: Iterator[SessionDigest] = iter(())
        self._told: dict[str, str] = {}
        self._is_ready = False
        self._words: list[str] = []
        self._widths: dict[str, int] = {}

    def on_mount(self) -> None:
        self._is_ready = True
        self._arrange()

    def on_resize(self, _: Resize) -> None:
        if self._widths != self._wanted_widths():
            self._arrange()

    def show(self, sessions: Sequence[SessionDigest]) -> None:
        """Show these sessions; marks and cursor stay on those that remain."""
        self._sessions = list(sessions)
        self._told.clear()
        by_key = {key_of(s): s for s in sessions}
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
        self.clear(columns=True)
        self._widths = self._wanted_widths()
        self.add_column("", width=1, key="mark")
        for column in COLUMNS:
            arrow = ("▼" if self.downwards else "▲") if column is self.sorted_by else ""
            self.add_column(
                f"{column.name}{arrow}", width=self._widths[column.name], key=column.name
            )
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
                *(_Cell(column, session) for column in COLUMNS),
                key=key,
            )
        if len(some) == _AT_ONCE:
            self.set_timer(_BETWEEN_S, self._add_some)

    def _is_wanted(self, session: SessionDigest) -> bool:
        if not self._words:
            return True
        key = key_of(session)
        if key not in self._told:
            self._told[key] = _told(session)
        return all(word in self._told[key] for word in self._words)

    def _update_dimensions(self, new_rows: Iterable[RowKey]) -> None:
        # Widths and heights are fixed: measuring thousands of cells would take seconds.
        super()._update_dimensions(())

    def _wanted_widths(self) -> dict[str, int]:
        widths = {column.name: column.width for column in COLUMNS}
        spare = self.app.size.width - 7 - sum(widths.values()) - 2 * len(widths)
        for name, most in _WIDEN.items():
            more = max(0, min(most - widths[name], spare))
            widths[name] += more
            spare -= more
        return widths

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


def _told(session: SessionDigest) -> str:
    """The text that a filter searches."""
    words = [column.cell(session) for column in COLUMNS]
    words += [session.session, session.method, *session.transports, session.origin]
    words += [note.text for note in session.notes]
    return " ".join(words).lower()
