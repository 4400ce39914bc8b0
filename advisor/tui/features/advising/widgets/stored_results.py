"""What the history has for the present entries: tables, and a chart of the probes by age."""

import time
from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from advisor.domain.events import PastResult
from advisor.domain.quantities import format_duration, format_rate
from advisor.store.history import SimilarPair
from advisor.traits import describe, subject_name, transport_traits
from advisor.tui.features.advising.stored import ProbesBySubject, Stored
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.kit.times import age_words

if TYPE_CHECKING:
    from advisor.tui.kit.charts.chart import Chart
    from advisor.tui.kit.charts.series import Series

_DAY_S: Final = 86400.0


class StoredResults(Vertical):
    """`show` fills it; what is empty is hidden."""

    DEFAULT_CSS = """
    StoredResults { height: auto; }
    StoredResults > #past { height: auto; margin-bottom: 1; }
    StoredResults > #chart-place { height: auto; }
    StoredResults Chart { height: 10; }
    StoredResults RowTable { margin-bottom: 1; }
    """

    _chart: "Chart | None" = None

    def compose(self) -> ComposeResult:
        yield Static("… reading the history", id="past")
        stored = RowTable("Stored for this pair", "with", "best", "probes", "age", id="stored")
        alike = RowTable(
            "Similar pairs", "similar pair", "round trip", "best", "with", "age", id="similar"
        )
        for widget in (stored, Vertical(id="chart-place"), alike):
            widget.display = False
            yield widget

    def show_trouble(self, trouble: str) -> None:
        """Say why the history cannot be read."""
        self.query_one("#past", Static).update(Content(f"✗ {trouble}"))

    def show(self, found: Stored, where: str) -> None:
        """`where`: the destination in words."""
        past = found.past
        cautions = dict.fromkeys(r.caution for r in past if r.caution)
        words = f"Stored for {where}:" if past else f"Nothing is stored for {where} as it is now."
        lines = [words, *(f"! {caution}" for caution in cautions)]
        self.query_one("#past", Static).update(Content("\n".join(lines)))
        stored, alike = self.query_one("#stored", RowTable), self.query_one("#similar", RowTable)
        stored.display, alike.display = bool(past), bool(found.similar)
        stored.fill([(r.subject, _past_cells(r)) for r in past])
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
        self._chart.restart()
        self._chart.show(_by_age(shown, time.time()), x_label="days ago", y_label="throughput")


def _by_age(shown: ProbesBySubject, now_s: float) -> "list[Series]":
    from advisor.tui.kit.charts.series import Series

    return [
        Series(
            name=subject_name(name),
            xs=[(now_s - recorded_s) / _DAY_S for recorded_s, _ in points],
            ys=[rate_bps for _, rate_bps in points],
            kind="points",
            mark=transport_traits(name).mark,
            colour=transport_traits(name).colour,
        )
        for name, points in shown.items()
    ]


def _past_cells(past: PastResult) -> tuple[Text, ...]:
    return (
        Text(describe(past.subject, past.setting)),
        Text(_rate_with_spread(past)),
        Text(str(past.probes), justify="right"),
        Text(age_words(past.age_s)),
    )


def _rate_with_spread(past: PastResult) -> str:
    spread = "" if past.spread is None else f" ±{past.spread:.0%}"
    return f"{format_rate(past.throughput_bps)}{spread}"


def _similar_cells(similar: SimilarPair) -> tuple[Text, ...]:
    best = max(similar.best, key=lambda r: r.throughput_bps)
    return (
        Text(similar.pair.destination),
        Text(format_duration(similar.rtt_s)),
        Text(format_rate(best.throughput_bps)),
        Text(describe(best.subject, best.setting)),
        Text(age_words(best.age_s)),
    )
