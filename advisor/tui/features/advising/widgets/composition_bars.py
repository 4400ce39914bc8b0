"""Bars of disks, network, and the file transfer through all three."""

from collections.abc import Iterator
from typing import Final

from advisor.domain.advice import Advice, Composition, Subsystem
from advisor.domain.space import Setting, setting_words
from advisor.report.composition import percent
from advisor.tui.kit.charts.axis import nice_end
from advisor.tui.kit.charts.interval_bars import Bar, IntervalBars
from advisor.tui.kit.sentences import capitalised

_FARTHEST: Final = 2.5
"""The axis ends at this multiple of the composed rate: what is far beyond is no limit."""


class CompositionBars(IntervalBars):
    """Bars of advice with a composition; a bar longer than the axis ends in an arrow."""

    HELP = (
        "[b]Disks and network[/b] The rate of each alone, of all together (the smallest of "
        "them), and the measured rate with files going through all of them. The one marked "
        "'bottleneck' limits the transfer. A bar that ends in an arrow extends beyond the axis: "
        "it is no limit. 9 in 10 transfers reach a rate in the bracket."
    )

    def __init__(
        self,
        advice: Advice,
    ) -> None:
        composed = advice.composition
        bars = list(composition_bars(advice, composed)) if composed else []
        super().__init__(
            bars,
            best_first=False,
            top_bps=composition_top_bps(bars),
            unit_of_bps=advice.expected_bps,
            heading="Part",
        )
        self.border_title = "Disks and network"


def composition_top_bps(bars: list[Bar]) -> float | None:
    """The end of the axis: it holds all bars unless one is many times longer than another."""
    together = [bar.reach_bps for bar in bars if bar.kind in ("past", "joint")]
    longest = max((bar.reach_bps for bar in bars), default=0.0)
    return nice_end(min(longest, _FARTHEST * max(together))) if together else None


def composition_bars(advice: Advice, composition: Composition) -> Iterator[Bar]:
    """The subsystems in the order of the data flow, then the predicted and measured total."""
    yield from (_alone(part, composition.limiting) for part in composition.subsystems)
    yield Bar(
        name="Together at most",
        detail="",
        value_bps=composition.predicted_bps,
        kind="past",
        verdict="the least of them",
    )
    yield Bar(
        name="Measured together",
        detail=setting_words(advice.setting),
        brief=_first_word(advice.setting),
        value_bps=composition.joint_bps,
        interval_bps=advice.interval_bps,
        kind="joint",
        verdict=f"{percent(composition.reached)} of that",
    )


def _alone(part: Subsystem, limiting: str) -> Bar:
    limits = part.what == limiting
    return Bar(
        name=capitalised(part.what),
        detail=setting_words(part.setting),
        brief=_first_word(part.setting),
        value_bps=part.throughput_bps,
        kind="limit" if limits else "measured",
        verdict="bottleneck" if limits else "",
    )


def _first_word(setting: Setting) -> str:
    """What the setting has most of: its files, streams or threads."""
    return setting_words(setting).split(", ")[0]
