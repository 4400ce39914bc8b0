"""What the disks, the network and the tool alone would allow a file transfer to reach.

Rao et al. 2016, sections I and III.C: a profile of each subsystem, and their composition, the
minimum of the subsystems' maxima, which overestimates what a transfer reaches. Section IV.A
measures the tool from memory to memory: what its own use of flows costs, without any file system.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from advisor.domain.advice import ABOUT_ALL, Composition, Subsystem
from advisor.domain.file_io import (
    DESTINATION_DISK,
    IO_MODE,
    NETWORK,
    SOURCE_DISK,
    STRIPES,
    TOOL_IN_MEMORY,
    tool_setting,
)
from advisor.domain.measurement import Failure, Measurement
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import FLOW_NAMES, Setting, flows_of

SUBSYSTEMS: Final = (SOURCE_DISK, NETWORK, TOOL_IN_MEMORY, DESTINATION_DISK)
"""In the order of the data flow. Probes of each are in the stage of that name."""


def compose(
    probes: Sequence[ProbeRecord],
    joint_bps: float,
    setting: Setting,
    flow_names: Collection[str] = FLOW_NAMES,
    absent: Mapping[str, str] | None = None,
) -> Composition | None:
    """The composition of a session's probes; None where no subsystem was measured alone.

    `joint_bps`: the throughput of the whole transfer at its `setting`. The disks count in its I/O
    mode and stripes, and the tool at this setting, where they were so measured. `flow_names`: those
    that count flows. `absent`: why subsystems without probes were not measured.
    """
    alone = {name: _alone(probes, name, setting) for name in SUBSYSTEMS}
    found = [_subsystem(name, some, flow_names) for name, some in alone.items()]
    subsystems = [one for one in found if one]
    if not subsystems:
        return None
    failures = {name: _last_failure(some) for name, some in alone.items()}
    reasons = dict(absent or {}) | {name: why for name, why in failures.items() if why}
    measured = {one.what for one in subsystems}
    return Composition(
        subsystems=subsystems,
        predicted_bps=min(one.throughput_bps for one in subsystems),
        joint_bps=joint_bps,
        absent={name: why for name, why in reasons.items() if name not in measured},
    )


def _alone(probes: Sequence[ProbeRecord], name: str, setting: Setting) -> list[ProbeRecord]:
    """The probes of a subsystem alone: those as the transfer uses it, if there are any."""
    every = [probe for probe in probes if probe.stage == name]
    if name == TOOL_IN_MEMORY:
        own = tool_setting(setting)
        return [probe for probe in every if probe.setting == own] or every
    # The files of the user at the source have the stripes that they have.
    stripes = setting.get(STRIPES) if name == DESTINATION_DISK else None
    for key, value in ((STRIPES, stripes), (IO_MODE, setting.get(IO_MODE))):
        every = [probe for probe in every if probe.setting.get(key) == value] or every
    return every


def _last_failure(probes: Sequence[ProbeRecord]) -> str:
    failures = [probe.result.message for probe in probes if isinstance(probe.result, Failure)]
    return failures[-1] if failures else ""


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


def named(what: str) -> str:
    """A subsystem as the subject of a sentence."""
    return "the tool itself" if what == TOOL_IN_MEMORY else f"the {what}"


def limit_words(composition: Composition) -> str:
    """Which subsystem limits, and how far the transfer falls below the composition."""
    what = composition.limiting
    limit, limit_bps = named(what), composition.alone_bps(what) or composition.predicted_bps
    how = "memory to memory it" if what == TOOL_IN_MEMORY else "alone it"
    beside = _beside(composition) if what == TOOL_IN_MEMORY else ""
    if composition.reached >= ABOUT_ALL:
        return f"{limit} is the bottleneck: {how} reaches {format_rate(limit_bps)}{beside}"
    short = 1 - composition.reached
    return (
        f"{limit} alone reaches {format_rate(limit_bps)}{beside}, and the transfer is "
        f"{short:.0%} below that: the overhead of files (round trips, opening, closing), or the "
        "subsystems together"
    )


def _beside(composition: Composition) -> str:
    """What the network gives where the tool reaches less."""
    network_bps = composition.alone_bps(NETWORK)
    return f", of the network's {format_rate(network_bps)}" if network_bps else ""
