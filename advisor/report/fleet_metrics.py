"""Figures of a fleet for Prometheus, and the dashboard for Grafana that shows them."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from advisor.fleet.state.reading import FleetState
from advisor.fleet.state.rows import Worker
from advisor.fleet.state.standing import PairStanding, pairs_of

_PAIR: Final = ("measure", "source", "destination")
_NEWS: Final = {"none": 0.0, "suspected": 1.0, "changed": 2.0}


class Figures(NamedTuple):
    """What is read for one answer. `outcomes`: how many attempts ended so."""

    state: FleetState
    workers: list[Worker]
    outcomes: dict[str, int]


class FleetCollector(Collector):
    """Asks the database at each scrape; `read` returns None when it does not answer."""

    def __init__(self, read: Callable[[], Figures | None]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The figures now; only `advisor_fleet_up` when there are none."""
        found = self._read()
        yield _gauge("up", "Whether the fleet's database answered.", float(found is not None))
        if found is None:
            return
        pairs = list(pairs_of(found.state))
        yield _gauge("workers", "Workers that were heard of a moment ago.", len(found.workers))
        yield _gauge("running", "Measurements that run now.", len(found.state.running))
        ended = CounterMetricFamily(
            "advisor_fleet_attempts", "Measurements that ended, by outcome.", labels=["outcome"]
        )
        for outcome, number in sorted(found.outcomes.items()):
            ended.add_metric([outcome], number)
        yield ended
        yield from _of_tasks(pairs, found.state.now_s)
        yield from _of_hosts(found.state)
        yield from _of_pairs(pairs)


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"advisor_fleet_{name}", about, value=value)


def _family(name: str, about: str, labels: tuple[str, ...]) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"advisor_fleet_{name}", about, labels=labels)


def _of_tasks(pairs: list[PairStanding], now_s: float) -> Iterator[Metric]:
    counted: tuple[tuple[str, str, Callable[[PairStanding], bool]], ...] = (
        ("pairs", "Pairs of the fleet.", lambda one: True),
        ("pairs_measured", "Pairs with a result.", lambda one: one.last_s is not None),
        ("pairs_due", "Pairs that are due now.", lambda one: one.due_s <= now_s),
        ("pairs_failing", "Pairs whose last attempt failed.", lambda one: one.failures > 0),
    )
    tasks = list(dict.fromkeys(one.task for one in pairs))
    for name, about, holds in counted:
        numbers = Counter(one.task for one in pairs if holds(one))
        family = _family(name, about, ("measure",))
        for task in tasks:
            family.add_metric([task], numbers[task])
        yield family


def _of_hosts(state: FleetState) -> Iterator[Metric]:
    fleet = state.applied.fleet
    down = _family("host_down", "1 for a host that could not be reached.", ("host",))
    booked = _family(
        "host_traffic_bytes", "Moved and booked in 24 hours, both directions.", ("host",)
    )
    bound = _family("host_bound_bytes", "What may be moved in 24 hours at most.", ("host",))
    moved = _traffic(state)
    for host in fleet.hosts:
        known = state.hosts.get(host.name)
        down.add_metric([host.name], float(bool(known and known.failures)))
        booked.add_metric([host.name], moved[host.name])
        bound.add_metric([host.name], fleet.bound_bytes(host.bandwidth_bps))
    yield from (down, booked, bound)


def _traffic(state: FleetState) -> Counter[str]:
    moved: Counter[str] = Counter()
    for one in [*state.recent, *state.running]:
        for host in (one.source, one.destination):
            moved[host] += round(one.counted_bytes)
    return moved


def _of_pairs(pairs: list[PairStanding]) -> Iterator[Metric]:
    shown: tuple[tuple[str, str, Callable[[PairStanding], float | None]], ...] = (
        ("pair_throughput_bps", "The last result, in bit/s.", lambda one: one.rate_bps),
        ("pair_rtt_seconds", "Round-trip time with the last result.", lambda one: one.rtt_s),
        (
            "pair_last_success_timestamp_seconds",
            "Unix time of the last result.",
            lambda one: one.last_s,
        ),
        ("pair_failures", "Failures since the last result.", lambda one: float(one.failures)),
        (
            "pair_change",
            "0 none, 1 a change is suspected, 2 it is certain.",
            lambda one: _NEWS[one.news],
        ),
    )
    for name, about, value_of in shown:
        family = _family(name, about, _PAIR)
        for one in pairs:
            if (value := value_of(one)) is not None:
                family.add_metric([one.task, one.source, one.destination], value)
        yield family


def registry_of(read: Callable[[], Figures | None]) -> CollectorRegistry:
    """A registry with these figures and nothing of this process."""
    # `describe` would ask the database at once.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(FleetCollector(read))
    return registry


def metrics_text(read: Callable[[], Figures | None]) -> str:
    """The figures as Prometheus reads them."""
    return generate_latest(registry_of(read)).decode()


def dashboard_text() -> str:
    """The dashboard for Grafana, as JSON to import."""
    text = (files("advisor.report") / "fleet_dashboard.json").read_text(encoding="utf-8")
    return json.dumps(json.loads(text), indent=2)
