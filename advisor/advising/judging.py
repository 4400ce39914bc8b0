"""Which probes of a session the advice is about, and what each is worth for it. Pure.

Of a session that profiles transports all are, as they are. Where a tool is profiled, the network
and the disks are measured too, but it is the tool's settings that are compared; and a slice of the
dataset is worth what the whole would give that way, with all that it takes to begin and to end.
"""

from collections.abc import Sequence

import msgspec

from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.records import ProbeRecord
from advisor.models.comparison import LEAST_SPREAD, SLICE_SPREAD
from advisor.models.slicing import whole_bps
from advisor.runtime.request import AdviceRequest


def comparable_outcome(request: AdviceRequest, subject: str, outcome: Outcome) -> Outcome | None:
    """The outcome as it is to be compared; None for what is not compared."""
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
    """The probes that are compared, with what they are worth."""
    found = ((probe, comparable_outcome(request, probe.subject, probe.result)) for probe in probes)
    return [msgspec.structs.replace(probe, result=result) for probe, result in found if result]


def least_spread(request: AdviceRequest) -> float:
    """How well the probes foretell a transfer at best, as a share."""
    return SLICE_SPREAD if request.tool else LEAST_SPREAD
