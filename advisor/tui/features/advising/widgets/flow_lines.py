"""Throughput of each subsystem and of all together by the number of flows. Pure."""

from collections.abc import Mapping
from typing import Final

from advisor.domain.advice import Composition
from advisor.domain.file_io import NETWORK
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.boxes import boxes_of, place_of
from advisor.tui.features.advising.widgets.legend import DISK_MARKS
from advisor.tui.kit.charts.series import Level, Series

_TOGETHER: Final = "together, median of probes"
_LINE_MARKS: Final = {NETWORK: ("●", "blue"), _TOGETHER: ("○", "advised")}
_REACH: Final = 3.0
"""A line this many times above the best total would flatten it."""


class FlowLines:
    """The lines of a composition. `series`, `levels` and `x_ticks` are for a chart.

    With fewer than two numbers of flows `series` is empty.
    """

    def __init__(self, model: SessionModel, composition: Composition) -> None:
        together = model.advice.subject if model.advice else ""
        rates: dict[str, Mapping[int, float]] = {s.what: s.by_flows for s in composition.subsystems}
        rates[_TOGETHER] = {box.at_once: box.median_bps for box in boxes_of(model, together)}
        lines = {what: by_flows for what, by_flows in rates.items() if len(by_flows) > 1}
        most_bps = _REACH * max(
            [composition.joint_bps, composition.predicted_bps, *rates[_TOGETHER].values()]
        )
        beyond = {w for w, by_flows in lines.items() if max(by_flows.values()) > most_bps}
        drawn = {what: by_flows for what, by_flows in lines.items() if what not in beyond}
        numbers = sorted({number for by_flows in drawn.values() for number in by_flows})
        places = {number: place_of(index) for index, number in enumerate(numbers)}
        self.x_ticks = [(place, str(number)) for number, place in places.items()]
        self.series = [_series_by_flows(what, by_flows, places) for what, by_flows in drawn.items()]
        self.levels = [
            Level(f"{what}, at best", max(by_flows.values()), "foreground")
            for what, by_flows in lines.items()
            if what in beyond
        ]


def _series_by_flows(
    what: str, by_flows: Mapping[int, float], places: Mapping[int, float]
) -> Series:
    of_disk, _ = DISK_MARKS.get(what, ("◇", ""))
    mark, colour = _LINE_MARKS.get(what, (of_disk, "foreground"))
    at = sorted(by_flows)
    return Series(
        what,
        [places[number] for number in at],
        [by_flows[number] for number in at],
        mark=mark,
        colour=colour,
    )
