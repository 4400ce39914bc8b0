"""One past session: its charts as they were, at any moment and any speed, its advice, its notes."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.markup import escape
from textual.widget import Widget
from textual.widgets import Button, Static
from textual.worker import get_current_worker

from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.space import describe
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.session_digests import SessionDigest
from advisor.tui.past_events import events_of
from advisor.tui.replay import Replay
from advisor.tui.screens.ask import ask_for_note, ask_for_transfer, verdict
from advisor.tui.step import Page
from advisor.tui.story import Story
from advisor.tui.widgets.session_table import local_time
from advisor.tui.widgets.session_view import PANELS, SessionView

_TICK_S: Final = 0.5


class SessionScreen(Page):
    """Opened from the review. `session` is what the list knows of it."""

    NAME = "Session"
    HELP = (
        "[b]A past session[/b] as its screen was. It opens at its end; Home goes to its beginning, "
        "Space plays it from where it stands, + and − change the speed, Left and Right go from "
        "probe to probe. Time in which nothing happened is passed over."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "Play/pause", id="play"),
        Binding("left,h", "step(-1)", "Probe back", show=False, id="probe-back"),
        Binding("right,l", "step(1)", "Probe on", show=False, id="probe-on"),
        Binding("plus,equals_sign", "speed(1)", "Faster", show=False, id="faster"),
        Binding("minus,underscore", "speed(-1)", "Slower", show=False, id="slower"),
        Binding("home", "begin", "Beginning", show=False, id="beginning"),
        Binding("end,dollar_sign", "end", "End", show=False, id="end"),
        *(
            Binding(str(n), f"panel('{name}')", f"Panel: {name}", show=False)
            for n, name in enumerate(PANELS, 1)
        ),
        Binding("0", "panel('')", "All panels", show=False),
        Binding("n", "next_panel", "Next panel", id="next-panel"),
        Binding("w", "map_values", "Map: numbers or rates", show=False, id="map-values"),
        Binding("x", "map_transport", "Map: other transport", show=False, id="map-transport"),
        Binding("v", "advice", "Advice", id="advice"),
        Binding("c", "compare", "Compare", id="compare"),
        Binding("a", "note", "Note", id="note"),
        Binding("t,T", "record", "Record transfer", show=False, id="record"),
    ]
    DEFAULT_CSS = """
    SessionScreen #about { height: auto; }
    SessionScreen #film { height: 1; color: $text-muted; }
    SessionScreen SessionView { height: 1fr; min-height: 14; }
    """

    def __init__(self, session: SessionDigest) -> None:
        super().__init__()
        self._session = session
        self._replay: Replay | None = None
        self._kept = True

    def trail(self) -> str:
        return f"[b]advisor[/b]  Review › {escape(self._session.session)}"

    def content(self) -> Iterable[Widget]:
        yield Static(id="about")
        yield Static("Reading …", id="film")
        yield SessionView()

    def buttons(self) -> Iterable[Button]:
        yield Button("Back", id="back")
        yield Button("Play", id="play", variant="primary")
        yield Button("Advice", id="advice")
        yield Button("Compare", id="compare")
        yield Button("Note", id="note")

    def on_mount(self) -> None:
        self._say_about()
        self.set_interval(_TICK_S, self._tick)
        self.call_after_refresh(self._load)

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        # A store of its own: one is for one thread at a time.
        store = Store(self.advisor.store.directory)
        try:
            events, kept = events_of(store, self._session)
        except StoreError as error:
            told = partial(self._fail, str(error))
        else:
            told = partial(self._take, Replay(events), kept)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(told)

    def _fail(self, sentence: str) -> None:
        self.query_one("#film", Static).update(escape(sentence))

    def _take(self, replay: Replay, kept: bool) -> None:
        self._replay, self._kept = replay, kept
        self._say_about()
        self._draw()

    def _say_about(self) -> None:
        self.query_one("#about", Static).update("\n".join(about(self._session, kept=self._kept)))

    def _draw(self) -> None:
        if self._replay:
            self.query_one("#film", Static).update(film_line(self._replay))
            self.query_one(SessionView).show(self._replay.story)

    def _tick(self) -> None:
        if self._replay and self._replay.advance(_TICK_S):
            self._draw()

    def _ready(self) -> Replay | None:
        if self._replay is None:
            self.advisor.refuse("the session is still being read: a moment please")
        return self._replay

    def action_play(self) -> None:
        if replay := self._ready():
            replay.play_or_pause()
            self._draw()

    def action_step(self, probes: int) -> None:
        if replay := self._ready():
            replay.step(probes)
            self._draw()

    def action_speed(self, by: int) -> None:
        if replay := self._ready():
            replay.change_speed(by)
            self._draw()

    def action_begin(self) -> None:
        if replay := self._ready():
            replay.playing = False
            replay.go_to(0.0)
            self._draw()

    def action_end(self) -> None:
        if replay := self._ready():
            replay.end()
            self._draw()

    def action_panel(self, name: str) -> None:
        self.query_one(SessionView).enlarge(name)

    def action_next_panel(self) -> None:
        self.query_one(SessionView).next_panel(1)

    def action_map_values(self) -> None:
        self.query_one(SessionView).toggle_values()

    def action_map_transport(self) -> None:
        self.query_one(SessionView).switch_transport()

    def _whole(self) -> Story | None:
        """The story to its end, wherever the film stands."""
        replay = self._ready()
        return replay.whole() if replay else None

    def action_advice(self) -> None:
        """The advice it came to."""
        story = self._whole()
        if story is None:
            return
        if story.advice is None:
            self.advisor.refuse("this session gave no advice: `advisor resume` goes on with it")
            return
        from advisor.tui.screens.advice import AdviceScreen

        self.advisor.open(AdviceScreen(story))

    def action_compare(self) -> None:
        """What it compared, as bars."""
        from advisor.tui.screens.comparison import ComparisonScreen

        if story := self._whole():
            self.advisor.open(ComparisonScreen(story))

    def action_note(self) -> None:
        """Write a note beside it."""
        ask_for_note(self.advisor, [self._session], self._look_again)

    def action_record(self) -> None:
        """Ask what the transfer gave that followed it."""
        ask_for_transfer(self.advisor, self._session, self._look_again)

    def _look_again(self) -> None:
        """What was said of it has changed."""
        try:
            known = self.advisor.store.sessions(self._session.pair)
        except StoreError as error:
            self.advisor.refuse(str(error))
            return
        self._session = next(
            (s for s in known if s.session == self._session.session), self._session
        )
        self._say_about()


def about(session: SessionDigest, *, kept: bool = True) -> list[str]:
    """What the list knows of it, in lines of markup; `kept`: whether its events were."""
    best = session.best
    reached = (
        f", at best {format_rate(best.throughput_bps)} with "
        f"{escape(describe(best.transport, best.setting))}"
        if best
        else ""
    )
    lines = [
        f"[b]{escape(str(session.pair))}[/b]  {local_time(session.began_s)}, {session.state}; "
        f"{session.probes} probes{reached}"
    ]
    if session.outlier:
        lines.append("[$warning]Marked as an outlier: it counts no more as a result.[/]")
    if not kept:
        lines.append(
            "[$warning]Its events were not kept: this is made from its probes' records, without "
            "the search's steps.[/]"
        )
    interval_bps = session.advice.interval_bps if session.advice else None
    lines += [
        f"Transfer {local_time(t.recorded_s)}: {verdict(t.rate_bps, interval_bps)} {escape(t.note)}"
        for t in session.transfers
    ]
    lines += [f"Note {local_time(n.recorded_s)}: {escape(n.text)}" for n in session.notes]
    return lines


def film_line(replay: Replay) -> str:
    """Where the film stands, in one line."""
    state = f"▶ {replay.speed:g} × as fast" if replay.playing else "❚❚ stands"
    at = format_duration(replay.at_s) if replay.at_s else "0 s"
    return (
        f"{state}  {at} of {format_duration(replay.length_s)}  probe {replay.probes_before} of "
        f"{replay.probes}  [dim]Space plays, ← → probe, + − speed {replay.speed:g} ×[/dim]"
    )
