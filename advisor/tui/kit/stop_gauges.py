"""How near a search is to its end: bars with words."""

from collections.abc import Sequence
from typing import Final

from advisor.domain.events import StopGauge

_CELLS: Final = 12
_NAMES: Final = {"N": "rounds", "L": "no gain", "C": "goal"}
"""The papers' letters, as a person would say them."""


def bar(share: float, cells: int = _CELLS) -> str:
    """A bar of so many cells; what is beyond the ends is cut off."""
    full = round(min(1.0, max(0.0, share)) * cells)
    return "█" * full + "░" * (cells - full)


def gauge_lines(gauges: Sequence[StopGauge]) -> list[str]:
    """One line for each: it stops where the bar is full."""
    return [
        f"{_NAMES.get(g.name, g.name):<8} {bar(g.value / g.limit if g.limit else 0.0)} "
        f"{_number(g)} {g.meaning}"
        for g in gauges
    ]


def _number(gauge: StopGauge) -> str:
    if gauge.name == "C":
        return f"{gauge.value:.0%} of {gauge.limit:.0%}:"
    return f"{gauge.value:g} of {gauge.limit:g}"
