"""The search space for profiling xdd, and the baseline.

Direct I/O is a choice where both file systems support it. A probe moves a few seconds' worth of
data, which may fit in the destination's page cache, so the time until it is on the disk counts:
else buffered writing would win such a comparison and lose the transfer of terabytes that follows.
"""

from typing import Final

from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Parameter, Scale, Setting, Space

from .exchange import MOST_FLOWS, USUAL_REQUEST_BYTES

_MIB: Final = 2**20
_LARGEST_REQUEST_BYTES: Final = 8 * _MIB
_ENOUGH_FLOWS: Final = 16
_BUFFERED: Final[Setting] = {"direct": 0}
_DIRECT: Final = Parameter(name="direct", unit="", lower=1, upper=1, automatic=True)


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Flows × request size × direct or buffered I/O.

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
    fixed: Setting = {} if flows > 1 else {"streams": 1}
    if limits.direct_io:
        searched, modes = (*searched, _DIRECT), "direct or buffered I/O"
    else:
        fixed, modes = fixed | _BUFFERED, "buffered I/O"
    return Space(
        parameters=searched,
        cost_order=tuple(parameter.name for parameter in searched),
        fixed=fixed,
        note=f"up to {flows} flows for the one file ({allowed} streams allowed), {modes}",
    )


def baselines_for() -> list[Baseline]:
    """What xdd does by default: one flow, and requests of 128 blocks of 1 KiB."""
    return [Baseline("default", {"streams": 1, "request_bytes": 128 * 1024, **_BUFFERED})]
