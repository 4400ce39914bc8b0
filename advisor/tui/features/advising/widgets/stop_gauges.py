"""How near a search is to its stopping conditions: bars with labels."""

from collections.abc import Sequence

from advisor.domain.events import StopGauge
from advisor.traits import gauge_label
from advisor.tui.kit.charts.gauge import gauge


def gauge_lines(method: str, gauges: Sequence[StopGauge]) -> list[str]:
    """One line for each condition of that method: the search stops when a bar is full."""
    return [
        f"{gauge_label(method, g.name).words:<8} {gauge(g.value / g.limit if g.limit else 0.0)} "
        f"{_number(method, g)} {g.meaning}"
        for g in gauges
    ]


def _number(method: str, stop: StopGauge) -> str:
    if gauge_label(method, stop.name).is_share:
        return f"{stop.value:.0%} of {stop.limit:.0%}:"
    return f"{stop.value:g} of {stop.limit:g}"
