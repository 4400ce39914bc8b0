"""How near a search is to its stopping conditions: bars with labels."""

from collections.abc import Sequence
from typing import Final

from advisor.domain.events import StopGauge
from advisor.traits import gauge_label

_CELLS: Final = 12


def bar(share: float, cells: int = _CELLS) -> str:
    """A bar of this many cells; the share is clipped to 0 to 1."""
    full = round(min(1.0, max(0.0, share)) * cells)
    return "█" * full + "░" * (cells - full)


def gauge_lines(method: str, gauges: Sequence[StopGauge]) -> list[str]:
    """One line for each condition of that method: the search stops when a bar is full."""
    return [
        f"{gauge_label(method, g.name).words:<8} {bar(g.value / g.limit if g.limit else 0.0)} "
        f"{_number(method, g)} {g.meaning}"
        for g in gauges
    ]


def _number(method: str, gauge: StopGauge) -> str:
    if gauge_label(method, gauge.name).is_share:
        return f"{gauge.value:.0%} of {gauge.limit:.0%}:"
    return f"{gauge.value:g} of {gauge.limit:g}"
