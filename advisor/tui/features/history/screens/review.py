"""Review: all past sessions, with remarks, comparisons and export."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from advisor.store.errors import StoreError
from advisor.store.session_digests import SessionDigest
from advisor.tui.features.history.export import formats
from advisor.tui.features.history.remarks import ask_for_note, ask_for_transfer, keep_remark
from advisor.tui.features.history.widgets.session_table import SessionTable
from advisor.tui.features.transfer.past_events import past_transfer_events
from advisor.tui.kit.dialogs.save import SaveScreen
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.marked import marked
from advisor.tui.kit.sentences import capitalised, count_words
from advisor.tui.kit.static import Static
from advisor.tui.page import Page
from advisor.tui.screens import screen_named

_NOTHING_YET: Final = marked(
    "No session is stored yet.\n\nStart one with [b]New advice[/b] at home (Ctrl+G), or import "
    "measurements of other tools: [b]advisor history import FILE…[/b] reads ProbData's .PROF "
    "files and the output of iperf3 -J."
)


class ReviewScreen(Page):
    """The table and its filter. Actions apply to the marked sessions, else to the selected one.

    `words`: what the filter has at first.
    """

    NAME = "Review"
    HELP = SessionTable.HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/", id="filter"),
        Binding("b", "beside", "Side by side", id="beside"),
        Binding("a", "note", "Note", id="note"),
        Binding("m", "outlier", "Outlier", id="outlier"),
        Binding("d", "delete", "Delete", id="delete"),
        Binding("u", "undo", "Undo delete", show=False, id="undo"),
        Binding("e", "export", "Export", id="export"),
        Binding("t,T", "record", "Transfer", id="record"),
        Binding("p", "profiles", "Profiles", show=False, id="profiles-of-review"),
    ]
    DEFAULT_CSS = """
    ReviewScreen #find { height: 1; }
    ReviewScreen #find Static { width: auto; padding: 0 1; color: $focus; text-style: bold; }
    ReviewScreen #find Input { width: 1fr; background: $background; }
    ReviewScreen #nothing { height: auto; padding: 1 1; display: none; }
    """

    def __init__(self, words: str = "") -> None:
        super().__init__()
        self._words = words
        self._sessions: list[SessionDigest] | None = None
        self._deleted: list[list[SessionDigest]] = []

    def content(self) -> Iterable[Widget]:
        search = Input(placeholder="filter by words, as in: dtn02 advised 2026-03", compact=True)
        search.border_title = "Filter"
        with Horizontal(id="find"):
            yield Static("/")
            yield search
        yield Static(_NOTHING_YET, id="nothing")
        yield SessionTable()

    @property
    def _table(self) -> SessionTable:
        return self.query_one(SessionTable)

    def on_mount(self) -> None:
        self.query_one(Input).value = self._words
        self._table.focus()

    def on_screen_resume(self) -> None:
        """Reload: the list may have changed while another screen was shown."""
        self.call_after_refresh(self._check_again)

    def _check_again(self) -> None:
        self._load()

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        try:
            with self.advisor.history.store() as store:
                sessions = store.sessions()
        except StoreError as error:
            draw = partial(self._fail, str(error))
        else:
            draw = partial(self._take, sessions)
        draw_from_thread(self, draw)

    def _fail(self, sentence: str) -> None:
        self._say_nothing(capitalised(sentence))

    def _take(self, sessions: list[SessionDigest]) -> None:
        if sessions != self._sessions:
            self._sessions = sessions
            self._table.show(sessions)

    def on_session_table_changed(self) -> None:
        """Show the number of sessions, or why there is none."""
        if self._sessions is None:
            return
        table, every = self._table, len(self._sessions)
        shown = len(table.shown)
        marked = f", {len(table.marked)} marked" if table.marked else ""
        table.set_title("Sessions", f"{shown:,} of {every:,}{marked}")
        if every and not shown:
            self._say_nothing("No session has all these words. Escape clears the filter.")
        elif not every and self._deleted:
            self._say_nothing("All sessions are deleted. U restores those deleted last.")
        else:
            self._say_nothing("" if every else _NOTHING_YET)

    def _say_nothing(self, text: str | Content) -> None:
        """Say why no session is listed. The table stays: hidden, it would lose the focus."""
        words = self.query_one("#nothing", Static)
        words.update(text)
        words.display = bool(text)

    def on_input_changed(self, changed: Input.Changed) -> None:
        self._table.filter(changed.value)

    def on_input_submitted(self) -> None:
        self._table.focus()

    def action_filter(self) -> None:
        """Focus the filter; Enter goes to the table, Escape clears the filter."""
        self.query_one(Input).focus()

    def action_back(self) -> None:
        search = self.query_one(Input)
        if search.value or search.has_focus:
            search.value = ""
            self._table.focus()
        else:
            super().action_back()

    def on_data_table_row_selected(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the selected session."""
        session = self._table.chosen
        if session is None:
            self._refuse_without_session()
        elif session.state == "planned":
            self._open_moved(session)
        else:
            self._open_playback(session)

    def _open_playback(self, session: SessionDigest) -> None:
        from advisor.tui.features.history.screens.session import SessionScreen

        self.advisor.open(SessionScreen(session))

    @work(thread=True, exclusive=True, group="open")
    def _open_moved(self, session: SessionDigest) -> None:
        """Open a transfer: its charts if it was tuned, else the playback of its probes."""
        try:
            with self.advisor.history.store() as store:
                events = past_transfer_events(store, session)
        except StoreError as error:
            draw_from_thread(self, self.advisor.refuse, str(error))
            return
        if not events:
            draw_from_thread(self, self._open_playback, session)
            return
        from advisor.tui.features.transfer.screens.past import PastTransferScreen

        draw_from_thread(self, lambda: self.advisor.open(PastTransferScreen(session, events)))

    def _meant(self) -> list[SessionDigest]:
        """The marked sessions, else the selected one; the user is notified if there is none."""
        if not (meant := self._table.meant):
            self._refuse_without_session()
        return meant

    def _refuse_without_session(self) -> None:
        self.advisor.refuse("no session is chosen: go to one with the arrows, or mark some")

    def action_beside(self) -> None:
        """Show the marked sessions side by side."""
        from advisor.tui.features.history.screens.side_by_side import MOST, SideBySideScreen

        count = len(self._table.marked)
        if count < 2:
            self.advisor.refuse("mark two sessions or more first: Space marks one")
        elif count > MOST:
            self.advisor.refuse(f"{count} sessions are marked: unmark some until {MOST} are left")
        else:
            self.advisor.open(SideBySideScreen(self._table.meant))

    def action_profiles(self) -> None:
        """Open the list of profiles."""
        self.advisor.open(screen_named("profiles"))

    def action_note(self) -> None:
        """Add a note to them."""
        if meant := self._meant():
            ask_for_note(self.advisor, meant, self._check_again)

    def action_outlier(self) -> None:
        """Mark them as outliers; if all of them are, remove the marks."""
        meant = self._meant()
        on = not all(session.outlier for session in meant)
        if meant and all(keep_remark(self.advisor, s, "outlier", on=on) for s in meant):
            done = "marked as an outlier, so not counted" if on else "counted again"
            self.notify(f"{_named(meant)} {done}. M reverses it.")
            self._load()

    def action_delete(self) -> None:
        """Delete them; undo restores them."""
        meant = self._meant()
        if gone := [s for s in meant if keep_remark(self.advisor, s, "deleted")]:
            self._deleted.append(gone)
            self.notify(f"{_named(gone)} deleted. U restores what was deleted last.")
            self._load()

    def action_undo(self) -> None:
        """Restore the sessions deleted last."""
        if not self._deleted:
            self.advisor.refuse(
                "nothing was deleted since this screen was opened: `advisor history sessions "
                "--deleted` lists the rest, `advisor history delete SESSION --undo` brings it back"
            )
            return
        back = self._deleted[-1]
        if all(keep_remark(self.advisor, s, "deleted", on=False) for s in back):
            self._deleted.pop()
            self.notify(f"{_named(back)} restored.")
            self._load()

    def action_record(self) -> None:
        """Ask for the result of a real transfer that followed the session."""
        meant = self._meant()
        if len(meant) > 1:
            self.advisor.refuse("a transfer follows one session: remove the marks first")
        elif meant:
            ask_for_transfer(self.advisor, meant[0], self._check_again)

    def action_export(self) -> None:
        """Write their records to a file."""
        if meant := self._meant():
            stem = meant[0].session if len(meant) == 1 else f"{len(meant)}-sessions"
            kinds = formats(self.advisor.history, meant)
            dialog = SaveScreen(stem, stem.replace(":", "-"), kinds)
            self.app.push_screen(dialog, self._tell_where)

    def _tell_where(self, path: Path | None) -> None:
        if path is not None:
            self.notify(str(path), title="Saved")


def _named(sessions: Sequence[SessionDigest]) -> str:
    return sessions[0].session if len(sessions) == 1 else count_words(len(sessions), "session")
