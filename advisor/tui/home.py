"""Home: the known pairs, and what can be done."""

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize, ScreenResume
from textual.widget import Widget
from textual.widgets import DataTable

from advisor.domain.events import FilesMoving
from advisor.domain.quantities import format_duration
from advisor.store.errors import StoreError
from advisor.store.history import PairSummary
from advisor.traits import default_tools
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.home.pair_card import PairCard
from advisor.tui.features.home.pair_table import PairTable
from advisor.tui.features.home.start_panel import StartPanel
from advisor.tui.features.transfer.draft import load_transfer_draft, of_draft
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.sentences import count_words
from advisor.tui.kit.static import Static
from advisor.tui.page import Page
from advisor.tui.screens import SCREENS, HomeKey, screen_named

_REDRAW_S: Final = 1.0
_TWO_COLUMNS_FROM: Final = 100
_ABOUT: Final = """\
advisor finds out how to move large data to another host as fast as possible.
It checks the path and both hosts, and tries settings with test transfers.
It then writes the command lines ({tools}) that performed best.

Your files are not touched, and nothing on either host is changed.
Measurements are stored, and shown here next time.

To try it here takes about a minute, on this machine only: press d.
"""
_RESUME: Final = HomeKey("r", "resume", "resume", "Resume", button="Resume session")
_TRY_HERE: Final = HomeKey("d", "try-here", "try_here", "Try it here", button="Try it here")


def _home_keys() -> list[HomeKey]:
    """The screens that Home leads to, and what it does itself."""
    keys = [entry.home for entry in SCREENS.values() if entry.home]
    keys.insert([key.id for key in keys].index("review"), _RESUME)
    return [*keys, _TRY_HERE]


class UnderWayLine(Static, can_focus=True):
    """Says that a session or transfer is running; enter opens its screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.under_way", "What is running", show=False),
    ]

    def on_click(self) -> None:
        self.screen.call_later(self.run_action, "screen.under_way")


class HomeScreen(Page):
    """The known pairs, and where to go from here."""

    NAME = "Home"
    HELP = (
        "[b]Home[/b]\nThe pairs of hosts that were measured before. Choose one and press enter "
        "for new advice on it, or n for another. Nothing is measured until you start it."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(k.key, k.action, k.label, show=k.in_footer, id=k.id, tooltip=k.tooltip)
            for k in _home_keys()
        ),
        Binding("escape", "back", "Back", show=False, id="back"),
    ]
    DEFAULT_CSS = """
    HomeScreen #body { overflow-y: hidden; }
    HomeScreen #under-way { background: $surface; padding: 0 1; display: none; }
    HomeScreen #under-way:focus { color: $focus; }
    HomeScreen #interrupted { color: $act; padding: 0 1; display: none; }
    HomeScreen #under-way.-said, HomeScreen #interrupted.-said { display: block; }
    HomeScreen #above { height: auto; }
    HomeScreen #start { width: 2fr; max-width: 52; margin-right: 1; }
    HomeScreen #pair { width: 3fr; height: 100%; }
    HomeScreen.narrow #start { width: 27; }
    HomeScreen.empty #above { height: 1fr; }
    HomeScreen.empty #start { height: 100%; }
    """

    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self._pairs: list[PairSummary] | None = None
        self._to_resume = self._interrupted = ""
        self._under_way_drawn: object = None

    def content(self) -> Iterable[Widget]:
        """What can be done, what is known of the chosen pair, and all known pairs."""
        yield UnderWayLine(id="under-way")
        yield Static(id="interrupted")
        with Horizontal(id="above"):
            yield StartPanel([key for key in _home_keys() if key.button])
            yield PairCard()
        yield PairTable()

    def on_mount(self) -> None:
        self.query_one(PairTable).display = False
        self.query_one(PairCard).tell("History", "Reading …")
        self.every(_REDRAW_S, self._show_under_way)

    def on_screen_resume(self, _: ScreenResume) -> None:
        # After the first paint: reading a long history must not delay the first screen.
        self.call_after_refresh(self._load)
        self._show_under_way()

    def on_resize(self, _: Resize) -> None:
        self.set_class(self.size.width < _TWO_COLUMNS_FROM, "narrow")
        self._show_pairs()

    def status(self) -> Sequence[Content]:
        known = [Content(count_words(len(self._pairs), "path"))] if self._pairs else []
        host, *rest = super().status()
        return [host, *known, *rest] if len(rest) == 1 else [host, *rest]

    @work(thread=True, exclusive=True, group="pairs")
    def _load(self) -> None:
        try:
            with self.advisor.history.store() as store:
                pairs, unfinished = store.pairs(), store.latest_unfinished_session()
                notices = store.notices
        except StoreError as error:
            draw_from_thread(self, self._take_trouble, str(error))
            return
        to_resume = interrupted = ""
        if unfinished:
            record, probes = unfinished
            to_resume = record.session
            age = format_duration(max(1.0, time.time() - record.recorded_s))
            done = count_words(len(probes), "probe")
            interrupted = f"{record.pair}, begun {age} ago, {done} done"
        draw_from_thread(self, self._take, pairs, to_resume, interrupted)
        for notice in notices:
            draw_from_thread(self, partial(self.notify, notice, severity="warning"))

    def _take_trouble(self, trouble: str) -> None:
        self.query_one(PairCard).tell("History", f"✗ {trouble}")

    def _take(self, pairs: list[PairSummary], to_resume: str, interrupted: str) -> None:
        """`to_resume`: the session that was interrupted last; `interrupted`: it in words."""
        self._pairs, self._to_resume, self._interrupted = pairs, to_resume, interrupted
        self._show_pairs()
        self._show_under_way()

    def _show_pairs(self) -> None:
        if self._pairs is None:
            return
        table = self.query_one(PairTable)
        table.display = bool(self._pairs)
        self.set_class(not self._pairs, "empty")
        if not self._pairs:
            about = _ABOUT.format(tools=", ".join(default_tools()))
            self.query_one(PairCard).tell("No path is known yet", about)
            return
        had_rows = table.row_count
        table.show(self._pairs, self.size.width)
        if not had_rows and self.focused is None:
            table.focus()
        self._show_chosen()

    def on_data_table_row_highlighted(self, _: DataTable.RowHighlighted) -> None:
        self._show_chosen()

    def _show_chosen(self) -> None:
        if chosen := self._chosen():
            self.query_one(PairCard).show(chosen)

    def _show_under_way(self) -> None:
        """Show what is running, or else a session that can be resumed."""
        # A change below another screen makes Textual redraw that screen completely.
        if self.app.screen is not self:
            return
        words = self._under_way_words()
        now = (words, self._interrupted)
        if now == self._under_way_drawn:
            return
        self._under_way_drawn = now
        self.query_one(StartPanel).show(frozenset() if self._to_resume else frozenset({"resume"}))
        under_way = self.query_one(UnderWayLine)
        if words and not under_way.has_class("-said"):
            under_way.add_class("-said")
            under_way.focus()
        under_way.set_class(bool(words), "-said")
        under_way.update(Content(words))
        interrupted = self.query_one("#interrupted", Static)
        interrupted.set_class(bool(self._to_resume) and not words, "-said")
        interrupted.update(Content(f"Interrupted: {self._interrupted}. r resumes it."))

    def _under_way_words(self) -> str:
        session, transfer = self.advisor.session, self.advisor.transfer
        if session and session.is_running:
            model = session.model
            left = f", {format_duration(model.left_s)} left" if model.left_s else ""
            return f"▸ A session is running: {model.pair or 'starting'}{left}. Enter or s shows it."
        if transfer and transfer.is_running:
            pair = transfer.model.pair or "starting"
            left = _left_words(transfer.model.moving)
            return f"▸ Files are being moved: {pair}{left}. Enter or f shows it."
        if (shares := self.advisor.shares) and shares.is_running:
            names = ", ".join(shares.model.destinations) or "several destinations"
            left = _left_words(shares.model.moving)
            return f"▸ Files are being moved to {names}{left}. Enter or f shows it."
        return ""

    def _chosen(self) -> PairSummary | None:
        key = self.query_one(PairTable).chosen
        return next((s for s in self._pairs or [] if str(s.pair) == key), None)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Handle Enter on a pair."""
        event.stop()
        self.action_new_advice()

    def action_new_advice(self) -> None:
        """Open the first step, with the chosen pair's destination."""
        chosen = self._chosen()
        draft = self.advisor.draft
        if chosen and chosen.pair.destination != _host_of(draft):
            draft.destination = chosen.pair.destination
            draft.way = "ssh"
        self.advisor.go("where")

    def action_resume(self) -> None:
        """Resume the session that was interrupted last, as it is named here."""
        if reason := self.advisor.why_no_session():
            self.advisor.refuse(reason)
        elif not self._to_resume:
            self.advisor.refuse("no session was interrupted: start one with n")
        else:
            self.advisor.resume_session(self._to_resume)

    def action_review(self) -> None:
        """Open the list of past sessions."""
        self.advisor.open(screen_named("review"))

    def action_profiles(self) -> None:
        """Open the list of profiles."""
        self.advisor.open(screen_named("profiles"))

    def action_lab(self) -> None:
        """Open the list of emulated paths."""
        self.advisor.open(screen_named("lab"))

    def action_fleet(self) -> None:
        """Open the matrix of a fleet's pairs."""
        self.advisor.open(screen_named("fleet"))

    def action_try_here(self) -> None:
        """Start a session on this machine only."""
        if reason := self.advisor.why_no_session():
            self.advisor.refuse(reason)
            return
        words = ["advise", "--json", "--orders", "--measure", *self.advisor.history.arguments]
        self.advisor.begin_session([*words, *Draft(destination="localhost").advise_arguments()])

    def action_session(self) -> None:
        """Open the session that runs, or ran last."""
        if self.advisor.session:
            self.advisor.go("profiling")
        else:
            self.advisor.refuse("no session is running: n starts one")

    def action_under_way(self) -> None:
        """Open the screen of what is running."""
        if self.advisor.is_moving:
            self.action_moving()
        else:
            self.action_session()

    def action_move(self) -> None:
        """Open the running transfer, else the form for one to the chosen pair's destination."""
        if self.advisor.is_moving:
            self.action_moving()
            return
        move = load_transfer_draft() or of_draft(self.advisor.draft)
        if chosen := self._chosen():
            move.go_to(chosen.pair.destination)
        self.advisor.open(screen_named("move", move))

    def action_shares(self) -> None:
        """Open the shares of several destinations."""
        self.advisor.go("shares")

    def action_moving(self) -> None:
        """Open the transfer that runs, or ran last."""
        if self.advisor.is_sharing or (self.advisor.shares and not self.advisor.transfer):
            self.advisor.go("shares")
        elif self.advisor.transfer:
            self.advisor.go("moving")
        else:
            self.advisor.refuse("no files are being moved: m starts a transfer")

    def action_back(self) -> None:
        """Home has no screen below it."""
        self.advisor.refuse("this is the first screen: ctrl+q leaves the program")


def _left_words(moving: FilesMoving | None) -> str:
    """`, 2 min left`; "" as long as it cannot be estimated."""
    left_s = moving.left_s[0] if moving and moving.left_s else 0.0
    return f", {format_duration(max(1, round(left_s)))} left" if left_s else ""


def _host_of(draft: Draft) -> str:
    """The host that the draft names, without its user; the agent's where one is given."""
    agent = draft.agent.strip().rpartition(":")[0] if draft.way == "agent" else ""
    return agent or draft.destination.strip().rpartition("@")[2]
