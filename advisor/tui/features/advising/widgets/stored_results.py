"""What the history has for the present entries: tables, and a chart of the probes by age."""

import time
from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from advisor.domain.events import PastResult
from advisor.domain.quantities import format_duration, format_rate
from advisor.store.history import SimilarPair
from advisor.traits import describe, subject_name, transport_traits
from advisor.tui.features.advising.stored import ProbesBySubject, Stored
from advisor.tui.features.advising.widgets.age_axis import AgeAxis
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.kit.times import age_words

if TYPE_CHECKING:
    from advisor.tui.kit.charts.chart import Chart
    from advisor.tui.kit.charts.series import Series


_BEST: Final = "▶"
"""Marks the result that is taken as the advice."""


class StoredResults(Vertical):
    """`show` fills it; what is empty is hidden."""

    DEFAULT_CSS = """
    StoredResults { height: auto; }
    StoredResults > #past { height: auto; padding: 0 2; }
    StoredResults > #chart-place { height: auto; }
    StoredResults Chart { height: 10; }
    StoredResults RowTable { scrollbar-size-horizontal: 0; }
    """

    _chart: "Chart | None" = None

    def compose(self) -> ComposeResult:
        stored = RowTable("Stored", "", "rate", "probes", "age", "setting", id="stored")
        alike = RowTable(
            "Similar pairs", "destination", "round trip", "rate", "age", "setting", id="similar"
        )
        stored.display = alike.display = False
        place = Vertical(id="chart-place")
        place.display = False
        yield stored
        yield Static("… reading the history", id="past")
        yield from (place, alike)

    def show_trouble(self, trouble: str) -> None:
        """Say why the history cannot be read."""
        self.query_one("#past", Static).update(Content(f"✗ {trouble}"))

    def show(self, found: Stored, where: str) -> None:
        """`where`: the destination in words."""
        past = found.past
        words = "" if past else f"Nothing is stored for {where} as it is now."
        lines = [Content(words), *(_caution(result) for result in past if result.caution)]
        lines += [Content(note) for note in found.notes]
        shown = Content("\n").join(line for line in lines if line)
        self.query_one("#past", Static).update(shown)
        self.query_one("#past").display = bool(shown)
        stored, alike = self.query_one("#stored", RowTable), self.query_one("#similar", RowTable)
        stored.set_title(f"Stored for {where}", f"{_BEST} f6 take it")
        stored.display, alike.display = bool(past), bool(found.similar)
        best = sorted(past, key=lambda result: -result.throughput_bps)
        stored.fill([(r.subject, _past_cells(r, is_best=r is best[0])) for r in best])
        alike.fill([(str(s.pair), _similar_cells(s)) for s in found.similar])
        self._draw_chart(found.probes)

    def _draw_chart(self, probes: ProbesBySubject) -> None:
        """Draw the chart; its module is imported only when needed, because that is slow."""
        shown = {name: points for name, points in probes.items() if len(points) > 1}
        self.query_one("#chart-place").display = bool(shown)
        if not shown:
            return
        if self._chart is None:
            from advisor.tui.kit.charts.chart import Chart

            self._chart = Chart("Stored probes by age")
            self.query_one("#chart-place").mount(self._chart)
        now_s = time.time()
        axis = AgeAxis([now_s - at_s for points in shown.values() for at_s, _ in points])
        self._chart.restart()
        self._chart.show(
            _by_age(shown, axis, now_s),
            x_label="age",
            y_label="throughput",
            x_range=(0.0, axis.end),
            x_ticks=axis.ticks,
        )


def _by_age(shown: ProbesBySubject, axis: AgeAxis, now_s: float) -> "list[Series]":
    from advisor.tui.kit.charts.series import Series

    return [
        Series(
            name=subject_name(name),
            xs=[axis.place(now_s - recorded_s) for recorded_s, _ in points],
            ys=[rate_bps for _, rate_bps in points],
            kind="points",
            mark=transport_traits(name).mark,
            colour=transport_traits(name).colour,
        )
        for name, points in shown.items()
    ]


def _past_cells(past: PastResult, *, is_best: bool) -> tuple[Text, ...]:
    return (
        Text(_BEST if is_best else " "),
        _rate_with_spread(past),
        Text(str(past.probes), justify="right"),
        Text(age_words(past.age_s)),
        Text(describe(past.subject, past.setting)),
    )


def _rate_with_spread(past: PastResult) -> Text:
    spread = "" if past.spread is None else f" ±{100 * past.spread:.0f} %"
    return Text.assemble((format_rate(past.throughput_bps), "bold"), (spread, "dim"))


def _caution(past: PastResult) -> Content:
    """Why not to rely on this one of the results."""
    return Content.styled(f"! {subject_name(past.subject)}: {past.caution}", "$act")


def _similar_cells(similar: SimilarPair) -> tuple[Text, ...]:
    best = max(similar.best, key=lambda r: r.throughput_bps)
    return (
        Text(similar.pair.destination),
        Text(format_duration(similar.rtt_s)),
        Text(format_rate(best.throughput_bps), "bold"),
        Text(age_words(best.age_s)),
        Text(describe(best.subject, best.setting)),
    )
