"""The destinations' samples from overlapping transfers, as in a server's log or our own.

Each transfer is one sample, as in the paper: its DC and SC are the mean concurrencies during it,
rounded; its throughput is what its destination got from all transfers during that time. A transfer
is assumed to have had a constant rate from start to end.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from advisor.domain.shares import Served


class Overlapping(msgspec.Struct, frozen=True, kw_only=True):
    """A transfer from the source. Times are Unix times, `concurrency` its own concurrent files."""

    destination: str
    begin_s: float
    end_s: float
    concurrency: int
    throughput_bps: float


def samples_of_transfers(transfers: Sequence[Overlapping]) -> dict[str, list[Served]]:
    """By destination, in the order of their ends; those of zero duration are left out."""
    kept = sorted((one for one in transfers if one.end_s > one.begin_s), key=lambda one: one.end_s)
    begins = np.array([one.begin_s for one in kept])
    ends = np.array([one.end_s for one in kept])
    levels = np.array([one.concurrency for one in kept], dtype=np.float64)
    rates_bps = np.array([one.throughput_bps for one in kept])
    names = np.array([one.destination for one in kept])
    found: dict[str, list[Served]] = {}
    # The fraction of its time that each of them was in flight.
    for one in kept:
        # The part of its time that each of them was under way.
        shared_s = np.minimum(ends, one.end_s) - np.maximum(begins, one.begin_s)
        part = np.clip(shared_s, 0.0, None) / (one.end_s - one.begin_s)
        own = part * (names == one.destination)
        concurrency = max(1, round(float(own @ levels)))
        found.setdefault(one.destination, []).append(
            Served(
                concurrency=concurrency,
                source_concurrency=max(concurrency, round(float(part @ levels))),
                throughput_bps=float(own @ rates_bps),
                when_s=one.end_s,
            )
        )
    return found
