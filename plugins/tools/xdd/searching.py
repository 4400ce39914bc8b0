"""The search space for profiling xdd, and the baseline.

Direct I/O is held fixed, and off. A probe moves a few seconds' worth of data, which may fit in the
destination's page cache: buffered writing would win such a comparison and lose the transfer of
terabytes that follows. A measurement of the disks alone, which accounts for the cache, shows more.
"""

from typing import Final

from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Parameter, Scale, Setting, Space

from .exchange import MOST_FLOWS, USUAL_REQUEST_BYTES

_MIB: Final = 2**20
_LARGEST_REQUEST_BYTES: Final = 8 * _MIB
_ENOUGH_FLOWS: Final = 16
_BUFFERED: Final[Setting] = {"direct": 0}


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Flows × request size.

    xdd moves a single file, so it may use as many flows as the user allows for all files together,
    up to 16, or as many as are allowed for each file if that is more.
    """
    allowed = limits.max_concurrency * limits.max_streams
    enough = max(_ENOUGH_FLOWS, limits.max_streams)
    largest_bytes = dataset.largest_bytes or dataset.total_bytes
    requests = -(-largest_bytes // USUAL_REQUEST_BYTES)
    flows = min(allowed, enough, requests, MOST_FLOWS)
    parameters = (
        Parameter(name="streams", unit="streams", lower=1, upper=flows, scale=Scale.LOG2),
        Parameter(
            name="request_bytes",
            unit="B",
            lower=_MIB,
            upper=_LARGEST_REQUEST_BYTES,
            scale=Scale.LOG2,
            quantum=_MIB,
        ),
    )
    searched = parameters if flows > 1 else parameters[1:]
    return Space(
        parameters=searched,
        cost_order=tuple(parameter.name for parameter in searched),
        fixed=_BUFFERED if flows > 1 else {"streams": 1, **_BUFFERED},
        note=f"up to {flows} flows for the one file ({allowed} streams allowed), buffered I/O",
    )


def baselines_for() -> list[Baseline]:
    """What xdd does by default: one flow, and requests of 128 blocks of 1 KiB."""
    return [Baseline("default", {"streams": 1, "request_bytes": 128 * 1024, **_BUFFERED})]
