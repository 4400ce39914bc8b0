"""What source disk, network and destination disk alone would allow a file transfer to reach.

Rao et al. 2016, sections I and III.C: a profile of each subsystem, and their composition, the
minimum of the subsystems' maxima, which overestimates what a transfer reaches.
"""

from collections.abc import Collection, Sequence
from typing import Final

from advisor.domain.advice import Composition, Subsystem
from advisor.domain.file_io import DESTINATION_DISK, IO_MODE, SOURCE_DISK
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import FLOW_NAMES, SettingValue, flows_of

NETWORK: Final = "network"
SUBSYSTEMS: Final = (SOURCE_DISK, NETWORK, DESTINATION_DISK)
"""In the order of the data flow. Probes of each are in the stage of that name."""

ABOUT_ALL: Final = 0.9
"""From this fraction of the predicted rate on, the limiting subsystem counts as saturated."""


def compose(
    probes: Sequence[ProbeRecord],
    joint_bps: float,
    flow_names: Collection[str] = FLOW_NAMES,
    mode: SettingValue | None = None,
) -> Composition | None:
    """The composition of a session's probes; None where no subsystem was measured alone.

    `joint_bps`: the throughput of the whole transfer. `flow_names`: the parameters that count
    flows. `mode`: the transfer's direct (1) or buffered (0) I/O, in which its disks count where
    they were measured in it; None where the tool has no choice.
    """
    found = [_subsystem(name, _alone(probes, name, mode), flow_names) for name in SUBSYSTEMS]
    subsystems = [one for one in found if one]
    if not subsystems:
        return None
    predicted_bps = min(one.throughput_bps for one in subsystems)
    return Composition(subsystems=subsystems, predicted_bps=predicted_bps, joint_bps=joint_bps)


def _alone(
    probes: Sequence[ProbeRecord], name: str, mode: SettingValue | None
) -> list[ProbeRecord]:
    """The probes of a subsystem alone: those in this mode, if there are any."""
    every = [probe for probe in probes if probe.stage == name]
    return [probe for probe in every if probe.setting.get(IO_MODE) == mode] or every


def _subsystem(
    name: str, probes: Sequence[ProbeRecord], flow_names: Collection[str]
) -> Subsystem | None:
    rates = {id(p): p.result.throughput_bps for p in probes if isinstance(p.result, Measurement)}
    measured = [p for p in probes if id(p) in rates]
    if not measured:
        return None
    by_flows: dict[int, float] = {}
    for probe in measured:
        threads = probe.setting.get("threads")
        flows = int(threads) if threads is not None else flows_of(probe.setting, flow_names)
        by_flows[flows] = max(by_flows.get(flows, 0.0), rates[id(probe)])
    best = max(measured, key=lambda p: rates[id(p)])
    return Subsystem(
        what=name, throughput_bps=rates[id(best)], setting=best.setting, by_flows=by_flows
    )


def limit_words(composition: Composition) -> str:
    """Which subsystem limits, and how far the transfer falls below the composition."""
    limit, predicted = composition.limiting, format_rate(composition.predicted_bps)
    if composition.reached >= ABOUT_ALL:
        return f"the {limit} is the bottleneck: alone it reaches {predicted}"
    short = 1 - composition.reached
    return (
        f"the {limit} alone reaches {predicted}, and the transfer is {short:.0%} below that: the "
        "overhead of files (round trips, opening, closing), or the three subsystems together"
    )
