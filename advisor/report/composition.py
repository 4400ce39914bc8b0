"""Disks, network, tool, and the file transfer through all of them, in words."""

from typing import Final

from advisor.domain.advice import ABOUT_ALL, Composition, Subsystem
from advisor.domain.quantities import format_rate
from advisor.domain.space import setting_words
from advisor.models.composition import named

_BEYOND: Final = 1.05


def composition_lines(composition: Composition | None) -> list[str]:
    """A sentence on all, then a line for each subsystem; none without a composition.

    One that is absent has a line with the reason.
    """
    if composition is None:
        return []
    return [
        composition_words(composition),
        *(f"- {_alone(s)}" for s in composition.subsystems),
        *(f"- {what}: not measured: {why}" for what, why in composition.absent.items()),
    ]


def composition_words(composition: Composition) -> str:
    """What each reaches alone, their minimum, what was measured together, and the bottleneck."""
    first, *others = composition.subsystems
    parts = [
        f"alone, the {first.what} reaches {format_rate(first.throughput_bps)}",
        *(f"the {s.what} {format_rate(s.throughput_bps)}" for s in others),
    ]
    return (
        f"{', '.join(parts)}: together at most {format_rate(composition.predicted_bps)}; measured "
        f"together {format_rate(composition.joint_bps)} ({percent(composition.reached)}): "
        f"{verdict(composition)}"
    )


def verdict(composition: Composition) -> str:
    """The bottleneck of the file transfer."""
    least = named(composition.limiting)
    if composition.reached > _BEYOND:
        return (
            f"{least} is the bottleneck; alone it was slower, at another time or with fewer flows"
        )
    if composition.reached >= ABOUT_ALL:
        return f"{least} is the bottleneck"
    missing = percent(1 - composition.reached)
    return f"{least} is the slowest, yet all together stay {missing} below it"


def percent(share: float) -> str:
    """`90 %` for a share of 0.9."""
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
    """The unit of its `by_flows`."""
    return "threads" if "threads" in subsystem.setting else "streams"
