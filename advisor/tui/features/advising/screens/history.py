"""History: stored results of this pair and of similar pairs; use them, or profile now."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import ScreenResume
from textual.widget import Widget
from textual.widgets import Button, Collapsible, Static

from advisor.advising.budget import SHORTEST_S, default_budget_s
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.events import PastResult
from advisor.domain.file_io import DISKS
from advisor.domain.names import parse_names
from advisor.domain.quantities import format_duration, format_rate, parse_duration
from advisor.models.limits import wanted_bps
from advisor.store.errors import StoreError
from advisor.store.history import SimilarPair
from advisor.traits import (
    default_method,
    default_transports,
    describe,
    method_traits,
    methods,
    subject_name,
    transport_traits,
)
from advisor.tui.features.advising.form import Draft
from advisor.tui.features.advising.step import Step
from advisor.tui.kit.checks import whole_number
from advisor.tui.kit.field import Field, first_problem
from advisor.tui.kit.pair_table import age_words
from advisor.tui.kit.row_table import RowTable

if TYPE_CHECKING:
    from advisor.tui.kit.chart import Chart
    from advisor.tui.kit.series import Series

_DAY_S: Final = 86400.0
_MOST_STREAMS: Final = 128
_OF_THE_NETWORK: Final = ("#field-transports", "#field-congestion")


class HistoryScreen(Step):
    """The best stored results, and the options for profiling."""

    NAME = "History"
    STEP = "history"
    HELP = (
        "[b]History[/b]\nResults measured for this pair before. If they are recent and rest on "
        "several probes, use them: nothing is measured then. Otherwise profile: settings are "
        "tried, each for some seconds with test traffic from memory to memory, for the time "
        "given below; your files are not touched."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "next", "Profile now", id="next"),
        Binding("f6", "take_it", "Take it", id="take-it"),
    ]
    DEFAULT_CSS = """
    HistoryScreen .words { height: auto; margin-bottom: 1; }
    HistoryScreen #chart-place { height: auto; }
    HistoryScreen Chart { height: 10; }
    HistoryScreen RowTable { margin-bottom: 1; }
    HistoryScreen Collapsible { border: none; padding: 0; background: $background; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._past: list[PastResult] = []
        self._chart: Chart | None = None

    def content(self) -> Iterable[Widget]:
        draft = self.advisor.draft
        yield Static("… reading the history", id="past", classes="words")
        stored = RowTable("Stored for this pair", "with", "best", "probes", "age", id="stored")
        alike = RowTable(
            "Similar pairs", "similar pair", "round trip", "best", "with", "age", id="similar"
        )
        chart = Vertical(id="chart-place")
        for widget in (stored, chart, alike):
            widget.display = False
            yield widget
        yield Static(id="cost", classes="words")
        yield Field(
            "Time",
            "budget",
            draft,
            check=_budget,
            example="as in 2min; default: a minute, more on very long paths",
            explained="The total time for profiling. More time distinguishes smaller differences "
            "from noise.",
        )
        yield Field(
            "Transports",
            "transports",
            draft,
            check=_transports,
            example=",".join(default_transports()),
            explained="What is profiled. Every tool has TCP; UDT runs over UDP, and can be "
            "faster where packets are lost on a long path.",
        )
        yield Collapsible(*self._more(draft), title="More", collapsed=not _any_more(draft))

    def _more(self, draft: Draft) -> Iterable[Widget]:
        yield Field(
            "Method",
            "method",
            draft,
            check=_method,
            example=default_method("network"),
            explained="How the next setting to try is chosen. 'advisor plugins' lists them. Some "
            "go by past transfers instead: " + " ".join(filter(None, _hints())),
        )
        yield Field(
            "Congestion",
            "congestion",
            draft,
            check=parse_names,
            example="as in cubic,bbr: one run of probes each",
            explained="TCP congestion control algorithms. Both hosts' kernels must have them.",
        )
        yield Field(
            "Streams at most",
            "max_streams",
            draft,
            check=whole_number(1, _MOST_STREAMS),
            example="25",
            explained="Parallel TCP streams. Some sites ask for few.",
        )

    def buttons(self) -> Iterable[Button]:
        yield Button("Back", id="back")
        yield Button("Take it", id="take-it")
        yield Button("Profile now", id="next", variant="primary")

    def on_screen_resume(self, _: ScreenResume) -> None:
        for field in self.query(Field):
            field.refill()
        for name in _OF_THE_NETWORK:
            self.query_one(name).display = not self.advisor.draft.tool_name
        self._show_cost()
        self._explain_method()
        self._look_up()

    def on_field_changed(self, _: Field.Changed) -> None:
        self._show_cost()
        self._explain_method()

    def _explain_method(self) -> None:
        """Explain the requirements of a method that differ from those of the others."""
        words = method_traits(self.advisor.draft.method.strip()).hint
        self.query_one("#field-method", Field).hint(words)

    @work(thread=True, exclusive=True, group="history")
    def _look_up(self) -> None:
        draft = self.advisor.draft
        pair = _pair(draft)
        seen = draft.path_seen
        rtt_s = seen.path.rtt_s if seen else None
        capacity_bps = seen.path.capacity_bps if seen else None
        try:
            with self.advisor.history.store() as store:
                past = store.best(pair, time.time(), rtt_s) if pair else []
                known = next((s for s in store.pairs() if s.pair == pair), None)
                similar = store.similar(pair, rtt_s, capacity_bps) if pair else []
        except StoreError as error:
            self.app.call_from_thread(self._show_trouble, str(error))
            return
        past = [r for r in past if _is_meant(r.transport, draft)]
        series = known.series if known else {}
        series = {name: rates for name, rates in series.items() if _is_meant(name, draft)}
        self.app.call_from_thread(self._show, past, series, similar)

    def _show_trouble(self, trouble: str) -> None:
        self.query_one("#past", Static).update(Content(f"✗ {trouble}"))

    def _show(
        self,
        past: list[PastResult],
        series: dict[str, list[tuple[float, float]]],
        similar: list[SimilarPair],
    ) -> None:
        self._past = past
        where = self.advisor.draft.where or "this destination"
        cautions = dict.fromkeys(r.caution for r in past if r.caution)
        words = f"Stored for {where}:" if past else f"Nothing is stored for {where} as it is now."
        lines = [words, *(f"! {caution}" for caution in cautions)]
        self.query_one("#past", Static).update(Content("\n".join(lines)))
        stored, alike = self.query_one("#stored", RowTable), self.query_one("#similar", RowTable)
        stored.display, alike.display = bool(past), bool(similar)
        stored.fill([(r.transport, _past_cells(r)) for r in past])
        alike.fill([(str(s.pair), _similar_cells(s)) for s in similar])
        self._show_cost()
        self._draw_chart(series)

    def _draw_chart(self, series: dict[str, list[tuple[float, float]]]) -> None:
        """Draw the chart; its module is imported only when needed, because that is slow."""
        shown = {name: points for name, points in series.items() if len(points) > 1}
        self.query_one("#chart-place").display = bool(shown)
        if not shown:
            return
        if self._chart is None:
            from advisor.tui.kit.chart import Chart

            self._chart = Chart("Stored probes by age")
            self.query_one("#chart-place").mount(self._chart)
        self._chart.restart()
        self._chart.show(_series(shown, time.time()), x_label="days ago", y_label="throughput")

    def _show_cost(self) -> None:
        """Show the time that profiling takes, and the gain to hope for."""
        seen = self.advisor.draft.path_seen
        rtt_s = seen.path.rtt_s if seen else 0.0
        usual_s = default_budget_s(rtt_s, files=bool(self.advisor.draft.tool_name))
        try:
            text = self.advisor.draft.budget.strip()
            budget_s = parse_duration(text) if text else usual_s
        except ValueError:
            budget_s = usual_s
        words = f"Profiling takes about {format_duration(budget_s)}."
        best = max(self._past, key=lambda r: r.throughput_bps, default=None)
        room_bps = wanted_bps(seen.path) if seen and seen.path.capacity_bps else None
        if best and room_bps and room_bps > best.throughput_bps:
            words += (
                f" The path may carry {format_rate(room_bps)}, "
                f"{room_bps / best.throughput_bps:.1f} times the best that is stored."
            )
        elif best and room_bps:
            words += " The best that is stored fills the path: there is little to gain."
        elif not best and room_bps:
            words += (
                f" The path may carry {format_rate(room_bps)}; its throughput is not known yet."
            )
        self.query_one("#cost", Static).update(Content(words))

    def why_not_next(self) -> str:
        """Why profiling cannot start; "" when it can."""
        if not self.advisor.draft.where:
            return "no destination is given: go back to Where and type one"
        return (
            first_problem(list(self.query(Field)))
            or self.advisor.draft.why_no_tool()
            or self.advisor.why_no_session()
        )

    def action_next(self) -> None:
        """Profile."""
        self._begin("--measure")

    def action_take_it(self) -> None:
        """Get advice from stored results, without measuring."""
        if not self._past:
            self.advisor.refuse("nothing is stored for this pair: profile now (ctrl+n)")
            return
        self._begin("--accept-history")

    def _begin(self, word: str) -> None:
        if reason := self.why_not_next():
            self.advisor.refuse(reason)
            return
        words = ["advise", "--json", "--orders", word, *self.advisor.history.arguments]
        self.advisor.begin_session([*words, *self.advisor.draft.advise_arguments()])


def _is_meant(subject: str, draft: Draft) -> bool:
    """Whether a stored result is of the subject to profile: the tool, else a transport."""
    from advisor import registry

    if draft.tool_name:
        return subject == draft.tool_name
    others = {tool.name for tool in registry.tools()}
    return subject not in DISKS and subject not in others


def _pair(draft: Draft) -> Pair | None:
    """The pair as the history names it; None for an invalid destination."""
    from advisor.domain.addresses import parse_host_port
    from advisor.runtime.connect import pair_of
    from advisor.runtime.request import AdviceRequest

    try:
        agent = parse_host_port(draft.agent) if draft.way == "agent" else None
        named = draft.destination.strip()
        destination = Endpoint.parse(named) if named or not agent else Endpoint(agent[0])
    except ValueError:
        return None
    return pair_of(AdviceRequest(destination=destination, agent=agent))


def _hints() -> list[str]:
    return [method_traits(name).hint for name in methods()]


def _series(shown: dict[str, list[tuple[float, float]]], now_s: float) -> "list[Series]":
    from advisor.tui.kit.series import Series

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
        Text(describe(past.transport, past.setting)),
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
        Text(describe(best.transport, best.setting)),
        Text(age_words(best.age_s)),
    )


def _any_more(draft: Draft) -> bool:
    return bool(draft.method or draft.congestion or draft.max_streams)


def _budget(text: str) -> float:
    budget_s = parse_duration(text)
    if budget_s < SHORTEST_S:
        raise ValueError(f"too short for one probe: give at least {SHORTEST_S:g} s")
    return budget_s


def _method(text: str) -> None:
    from advisor import registry

    try:
        registry.method(text)
    except registry.PluginMissing as error:
        raise ValueError(str(error)) from None


def _transports(text: str) -> None:
    from advisor import registry

    try:
        for name in parse_names(text):
            registry.transport(name)
    except registry.PluginMissing as error:
        raise ValueError(str(error)) from None
