"""Sentences of advice whose figures show what the hosts can do, and not what the path can."""

from collections.abc import Sequence

from advisor.domain.file_io import NETWORK
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, processes_of
from advisor.models.limits import FULL, full_words


def full_cores(measured: Measurement | None, capacity_bps: float | None) -> str:
    """Which cores were full in the newest probe of the advised setting; "" if none was, or if the
    rate fills the path (`capacity_bps`) nevertheless."""
    if measured is None or (capacity_bps and measured.throughput_bps >= FULL * capacity_bps):
        return ""
    return full_words(measured)


def hosts_words(full: str) -> str:
    """A sentence with the cores that were full."""
    return (
        f"this is what the hosts can do, not the path, which may carry more: {full} "
        "(see what limits now, and 'advisor doctor' there)"
    )


def processes_words(subject: str, setting: Setting, probes: Sequence[ProbeRecord]) -> str:
    """A sentence if the advised setting has several processes, else "": what one reached."""
    processes = processes_of(setting)
    if processes < 2:
        return ""
    alone = [
        probe.result.throughput_bps
        for probe in probes
        if probe.subject == subject
        and processes_of(probe.setting) == 1
        and isinstance(probe.result, Measurement)
    ]
    one = f" (one process reached {format_rate(max(alone))} at best)" if alone else ""
    return (
        f"its streams were spread over {processes} processes{one}: a tool with one thread needs "
        f"{processes} transfers at a time, each with its part of the files and of the streams"
    )


def network_words(probes: Sequence[ProbeRecord]) -> str:
    """A sentence if the network alone, beside a tool, was measured with a full core, else ""."""
    found = [
        probe.result
        for probe in probes
        if probe.stage == NETWORK and isinstance(probe.result, Measurement)
    ]
    best = max(found, key=lambda one: one.throughput_bps, default=None)
    full = full_words(best) if best else ""
    if best is None or not full:
        return ""
    return (
        f"the network's {format_rate(best.throughput_bps)} is what the hosts can do with one "
        f"process, not the path: {full}"
    )
