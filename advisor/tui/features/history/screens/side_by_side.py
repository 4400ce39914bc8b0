"""Two or more past sessions side by side, on the same axes."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from textual import work
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from advisor.domain.quantities import format_rate
from advisor.report.times import local_time
from advisor.store.errors import StoreError
from advisor.store.session_digests import SessionDigest
from advisor.tui.features.advising.screens.comparison import best_probes, contender_bars, probe_bar
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.history.past_events import events_of
from advisor.tui.features.history.widgets.session_columns import (
    FULL,
    pair_words,
    shortened_look,
)
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.charts.interval_bars import Bar, IntervalBars
from advisor.tui.kit.charts.series import Series
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.panels.field_group import FieldGroup
from advisor.tui.kit.sentences import count_words
from advisor.tui.kit.static import Static
from advisor.tui.page import Page, past_trail

MOST: Final = 6
"""More lines cannot be distinguished."""

_SESSION_COLOURS: Final = ("blue", "orange", "advised", "violet", "act", "failed")


class SideBySideScreen(Page):
    """Each session's probes over its own time, and its closing comparison."""

    NAME = "Side by side"
    HELP = (
        "[b]Sessions side by side[/b] Each has a letter. The chart shows what each probe gave "
        "over the time since its session began; the bars what each session compared at its end, "
        "with 90 % intervals, all on one axis. Sessions of different times also differ by other "
        "traffic on the network."
    )
    DEFAULT_CSS = """
    SideBySideScreen #who { height: auto; }
    SideBySideScreen Chart { height: 15; }
    SideBySideScreen #bars { height: auto; }
    SideBySideScreen #end { margin-top: 1; }
    SideBySideScreen.-high Chart { height: 24; }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (50, "-high")]  # noqa: RUF012  # as Textual declares it

    def __init__(self, sessions: Sequence[SessionDigest]) -> None:
        super().__init__()
        self._sessions = list(sessions)

    def trail(self) -> Content:
        return past_trail(self.NAME)

    def content(self) -> Iterable[Widget]:
        yield FieldGroup(count_words(len(self._sessions), "session"), Static("Reading …", id="who"))
        yield Chart("Throughput of each probe")
        yield FieldGroup("Comparison at the end of each", Vertical(id="bars"), id="end")

    def on_mount(self) -> None:
        self.call_after_refresh(self._load)

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        try:
            with self.advisor.history.store() as store:
                models = [SessionModel(events_of(store, session)[0]) for session in self._sessions]
        except StoreError as error:
            draw = partial(self._fail, str(error))
        else:
            draw = partial(self._take, models)
        draw_from_thread(self, draw)

    def _fail(self, sentence: str) -> None:
        self.query_one("#who", Static).update(sentence)

    def _take(self, models: list[SessionModel]) -> None:
        lettered = list(zip("ABCDEF", self._sessions, models, strict=False))
        self.query_one("#who", Static).update(
            Content("\n").join(who_lines([(letter, session) for letter, session, _ in lettered]))
        )
        self.query_one(Chart).show(
            [
                _session_series(letter, session, model, colour)
                for (letter, session, model), colour in zip(
                    lettered, _SESSION_COLOURS, strict=False
                )
            ],
            x_label="seconds since the session began",
            y_label="throughput",
        )
        bars = [bar for letter, _, model in lettered for bar in end_bars(letter, model)]
        self.query_one("#bars").mount(
            IntervalBars(bars) if bars else Static("No probe of these sessions succeeded.")
        )


def who_lines(lettered: Sequence[tuple[str, SessionDigest]]) -> list[Content]:
    """Letter, time, pair, state and advised rate, one line per session, in columns."""
    look = shortened_look(FULL, [session for _, session in lettered])
    rows = [
        (local_time(one.began_s), pair_words(one, look), *_advised_words(one))
        for _, one in lettered
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        Content.assemble(
            (letter, "bold"),
            *(f"  {text:<{width}}" for text, width in zip(row[:3], widths, strict=False)),
            (f"  {row[3]:>{widths[3]}}", "$advised"),
        )
        for (letter, _), row in zip(lettered, rows, strict=True)
    ]


def _advised_words(session: SessionDigest) -> tuple[str, str]:
    """The state, and the advised rate if there is one. Settings stand beside the bars."""
    advice = session.advice
    return session.state, format_rate(advice.expected_bps) if advice else ""


def _session_series(
    letter: str, session: SessionDigest, model: SessionModel, colour: str
) -> Series:
    probes = [probe for probe in model.probes if probe.ended_s is not None]
    return Series(
        f"of {local_time(session.began_s)}",
        [probe.ended_s or 0.0 for probe in probes],
        [probe.throughput_bps or math.nan for probe in probes],
        kind="points",
        mark=letter,
        colour=colour,
    )


def end_bars(letter: str, model: SessionModel) -> list[Bar]:
    """The bars of a session's closing comparison; of its best probes if it has none."""
    return contender_bars(model, f"{letter}: ") or [
        probe_bar(probe, f"{letter}: ") for probe in best_probes(model)
    ]
