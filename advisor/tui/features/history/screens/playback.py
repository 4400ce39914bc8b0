"""Playback of a session: the base of the screens of a past one and of the recording."""

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.domain.quantities import format_duration
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.session_view import SESSION_PANELS, SessionView
from advisor.tui.features.history.replay import Replay
from advisor.tui.kit.charts.gauge import gauge
from advisor.tui.kit.marked import marked
from advisor.tui.kit.static import Static
from advisor.tui.page import Page

_TICK_S: Final = 0.5


class PlaybackPage(Page):
    """Shows the Replay that it is given with `take`."""

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
            for n, name in enumerate(SESSION_PANELS, 1)
        ),
        Binding("0", "panel('')", "All panels", show=False),
        Binding("n", "next_panel", "Next panel", id="next-panel"),
        Binding("w", "map_values", "Map: numbers or rates", show=False, id="map-values"),
        Binding("x", "map_transport", "Map: other transport", show=False, id="map-transport"),
        Binding("v", "advice", "Advice", id="advice"),
        Binding("c", "compare", "Compare", id="compare"),
        Binding("p", "past", "Past transfers", id="past-transfers"),
    ]
    DEFAULT_CSS = """
    PlaybackPage #about { height: auto; }
    PlaybackPage #film { height: 1; color: $text-muted; }
    PlaybackPage SessionView { height: 1fr; min-height: 14; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._replay: Replay | None = None

    def about(self) -> list[Content]:
        """The lines above the charts."""
        return []

    def content(self) -> Iterable[Widget]:
        yield Static(id="about")
        yield Static("Reading …", id="film")
        yield SessionView()

    def on_mount(self) -> None:
        self.say_about()
        self.every(_TICK_S, self._tick)

    @property
    def playing_at_s(self) -> float:
        """The position of the replay, in seconds since the session began."""
        return self._replay.at_s if self._replay else 0.0

    def take(self, replay: Replay) -> None:
        """Show this replay."""
        if not self._is_there():
            return
        self._replay = replay
        self.say_about()
        self._draw()

    def fail(self, sentence: str) -> None:
        """Show why there is nothing to play."""
        if self._is_there():
            self.query_one("#film", Static).update(sentence)

    def _is_there(self) -> bool:
        """Whether it is still shown: it may have been left while its session was read."""
        return bool(self.query("#about")) and bool(self.query(SessionView))

    def say_about(self) -> None:
        """Update the lines above the charts."""
        self.query_one("#about", Static).update(Content("\n").join(self.about()))

    def _draw(self) -> None:
        if self._replay:
            film = marked(playback_line(self._replay))
            self.query_one("#film", Static).update(film)
            self.query_one(SessionView).show(self._replay.model)

    def _tick(self) -> None:
        if self._replay and self._replay.advance(_TICK_S):
            self._draw()

    def _ready(self) -> Replay | None:
        if self._replay is None:
            self.advisor.refuse("the session is still being read: wait a moment")
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
        self.query_one(SessionView).switch_subject()

    def _whole(self) -> SessionModel | None:
        """The state at the session's end, wherever the replay is."""
        replay = self._ready()
        return replay.whole() if replay else None

    def action_advice(self) -> None:
        """Open the session's advice."""
        model = self._whole()
        if model is None:
            return
        if model.advice is None:
            self.advisor.refuse("this session gave no advice: `advisor resume` resumes it")
            return
        from advisor.tui.features.advising.screens.advice import AdviceScreen

        self.advisor.open(AdviceScreen(model))

    def action_compare(self) -> None:
        """Open the session's comparison."""
        from advisor.tui.features.advising.screens.comparison import ComparisonScreen

        if model := self._whole():
            self.advisor.open(ComparisonScreen(model))

    def action_past(self) -> None:
        """Open what past transfers predicted, if its method consulted them."""
        from advisor.tui.features.advising.screens.evidence import open_evidence

        if model := self._whole():
            open_evidence(self.advisor, model)


def playback_line(replay: Replay) -> str:
    """The position and speed of the replay in one line of markup."""
    share = replay.at_s / replay.length_s if replay.length_s else 0.0
    at = format_duration(replay.at_s) if replay.at_s else "0 s"
    return (
        f"{'▶ playing' if replay.playing else '❚❚ paused'} {gauge(share)} "
        f"{at} of {format_duration(replay.length_s)}  probe {replay.probes_before} of "
        f"{replay.probes}  [dim]← → step, + − speed {replay.speed:g}×[/dim]"
    )
