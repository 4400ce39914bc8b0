"""Which probes the advice compares, and the throughput each represents. Pure.

A session that profiles transports compares all probes as they are. One that profiles a tool also
measures the network and the disks, but compares only settings of the tool; and a slice represents
the throughput of the whole dataset, including the time for start-up and closing.
"""

from collections.abc import Sequence

import msgspec

from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.records import ProbeRecord
from advisor.models.comparison import LEAST_SPREAD, SLICE_SPREAD
from advisor.models.slicing import whole_bps
from advisor.runtime.request import AdviceRequest


def comparable_outcome(request: AdviceRequest, subject: str, outcome: Outcome) -> Outcome | None:
    """The outcome in the form that is compared; None if it is not compared."""
    if request.tool is None:
        return outcome
    if subject != request.tool:
        return None
    if not isinstance(outcome, Measurement) or request.dataset is None:
        return outcome
    total_bytes, overhead_s = request.dataset.total_bytes, outcome.overhead_s or 0.0
    bps = whole_bps(outcome.throughput_bps, overhead_s, total_bytes)
    return msgspec.structs.replace(
        outcome,
        throughput_bps=bps,
        stderr_bps=outcome.stderr_bps * bps / outcome.throughput_bps,
    )


def comparable(request: AdviceRequest, probes: Sequence[ProbeRecord]) -> list[ProbeRecord]:
    """The probes that are compared, with the outcome that each represents."""
    found = ((probe, comparable_outcome(request, probe.subject, probe.result)) for probe in probes)
    return [msgspec.structs.replace(probe, result=result) for probe, result in found if result]


def least_spread(request: AdviceRequest) -> float:
    """The least relative spread: no probe predicts a transfer better than this."""
    return SLICE_SPREAD if request.tool else LEAST_SPREAD
