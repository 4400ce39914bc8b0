"""Disks, network and the transfer of files through all three, in words."""

from typing import Final

from advisor.domain.advice import Composition, Subsystem
from advisor.domain.quantities import format_rate
from advisor.domain.space import setting_words
from advisor.models.composition import ABOUT_ALL

_BEYOND: Final = 1.05


def composition_lines(composition: Composition | None) -> list[str]:
    """A sentence on all, then a line for each subsystem; none where nothing was composed."""
    if composition is None:
        return []
    return [composition_words(composition), *(f"- {_alone(s)}" for s in composition.subsystems)]


def composition_words(composition: Composition) -> str:
    """What each lets pass, what that comes to, what was measured, and what limits."""
    first, *others = composition.subsystems
    parts = [
        f"the {first.what} lets {format_rate(first.throughput_bps)} pass",
        *(f"the {s.what} {format_rate(s.throughput_bps)}" for s in others),
    ]
    return (
        f"{', '.join(parts)}: together at most {format_rate(composition.predicted_bps)}; measured "
        f"together {format_rate(composition.joint_bps)} ({percent(composition.reached)}): "
        f"{verdict(composition)}"
    )


def verdict(composition: Composition) -> str:
    """What limits the transfer of files."""
    least = f"the {composition.limiting}"
    if composition.reached > _BEYOND:
        return f"{least} is what limits; alone it gave less, at another moment or with fewer flows"
    if composition.reached >= ABOUT_ALL:
        return f"{least} is what limits"
    missing = percent(1 - composition.reached)
    return f"{least} lets the least pass, yet all together stay {missing} under that"


def percent(share: float) -> str:
    """A share of 0.9 is `90 %`."""
    return f"{100 * share:.0f} %"


def _alone(subsystem: Subsystem) -> str:
    best = (
        f"{subsystem.what}: {format_rate(subsystem.throughput_bps)} with "
        f"{setting_words(subsystem.setting)}"
    )
    if len(subsystem.by_flows) < 2:
        return best
    rates = (f"{n}: {format_rate(bps)}" for n, bps in sorted(subsystem.by_flows.items()))
    return f"{best}; by {flows_word(subsystem)}, {', '.join(rates)}"


def flows_word(subsystem: Subsystem) -> str:
    """What its `by_flows` counts."""
    return "threads" if "threads" in subsystem.setting else "streams"
