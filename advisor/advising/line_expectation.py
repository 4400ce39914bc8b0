"""Makes the expectation of advice that of the line it prints.

Streams are measured with a transport's own program. The printed line is for a tool, which may reach
less on these hosts whatever the network gives. Sessions from disk to disk measure that: the tool
from memory to memory, at the advised setting (Rao et al. 2016, section IV.A), beside the network
alone. Where the tool was clearly slower than the network, it is the tool's own ceiling.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence

import msgspec

from advisor.advising.advice import transfer_time
from advisor.domain.advice import ABOUT_ALL, NINE_OF_TEN, Advice, Estimate, ToolCeiling
from advisor.domain.dataset import Dataset
from advisor.domain.file_io import NETWORK, TOOL_IN_MEMORY
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import flows_of
from advisor.models.comparison import TYPICAL_SPREAD


def known_ceilings(probes: Sequence[ProbeRecord], tools: Collection[str]) -> dict[str, float]:
    """The ceiling of each tool in bit/s, from stored probes of this connection.

    That of a tool is the best of all its settings. A tool that reached about what the network gave
    with at most as many flows has shown no ceiling.
    """
    sessions: dict[str, list[ProbeRecord]] = defaultdict(list)
    for probe in probes:
        sessions[probe.session].append(probe)
    best: dict[str, tuple[float, float]] = {}
    for session in sessions.values():
        tool = next((probe.subject for probe in session if probe.subject in tools), None)
        own_bps, flows = max(_rates(session, TOOL_IN_MEMORY), default=(0.0, 0))
        # With more flows than the tool had, the network may give more without the tool's fault.
        network_bps = max((bps for bps, n in _rates(session, NETWORK) if n <= flows), default=0.0)
        if tool and own_bps and network_bps:
            best[tool] = max(best.get(tool, (0.0, 0.0)), (own_bps, network_bps))
    return {
        tool: own_bps
        for tool, (own_bps, network_bps) in best.items()
        if own_bps < ABOUT_ALL * network_bps
    }


def _rates(probes: Sequence[ProbeRecord], stage: str) -> list[tuple[float, int]]:
    """The rate in bit/s and the number of flows of each probe of a stage that succeeded."""
    return [
        (probe.result.throughput_bps, flows_of(probe.setting))
        for probe in probes
        if probe.stage == stage and isinstance(probe.result, Measurement)
    ]


def expected_of_line(advice: Advice, ceilings: dict[str, float], dataset: Dataset | None) -> Advice:
    """The advice with what its first line reaches, where that tool's ceiling is lower.

    Expectation, default, gain and duration are then the tool's; `tool_ceiling` has both. Advice
    from disk to disk is about the tool already.
    """
    tool = advice.commands[0].tool if advice.commands else ""
    most_bps = ceilings.get(tool, math.inf)
    if advice.composition or advice.at_once or most_bps >= advice.expected_bps:
        return advice
    network = Estimate(advice.expected_bps, advice.interval_bps)
    half_bps = NINE_OF_TEN * TYPICAL_SPREAD * most_bps
    lower_bps, upper_bps = network.interval
    own = Estimate(
        most_bps, (min(lower_bps, most_bps - half_bps), min(upper_bps, most_bps + half_bps))
    )
    default_bps = None if advice.default_bps is None else min(advice.default_bps, most_bps)
    words = (
        f"{tool} itself reached {format_rate(most_bps)} on these hosts from memory to memory, less "
        f"than the {format_rate(network.value)} of the network: the expectation is the tool's"
    )
    return msgspec.structs.replace(
        advice,
        expected_bps=own.value,
        interval_bps=own.interval,
        default_bps=default_bps,
        gain=_gain(advice.gain, own, default_bps),
        transfer_s=transfer_time(dataset, own),
        reasons=[words, *advice.reasons],
        tool_ceiling=ToolCeiling(tool=tool, ceiling_bps=most_bps, network=network),
    )


def _gain(gain: Estimate | None, own: Estimate, default_bps: float | None) -> Estimate | None:
    """The gain where both rates end at the ceiling; never more than the network's."""
    if gain is None or not default_bps:
        return gain
    lower, upper = gain.interval
    most = own.value / default_bps
    return Estimate(
        min(gain.value, most), (min(lower, most), min(upper, own.interval[1] / default_bps))
    )
