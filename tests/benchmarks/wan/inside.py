"""Runs on a lab's source: measures the given settings, with advisor's own prober.

`python -m tests.benchmarks.wan.inside lab:NAME`. The first line it prints describes the
path; then for each order on standard input one outcome, as JSON lines. A probe lasts as long as
ordered, and everything after its start-up counts: neither depends on the data.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence

import msgspec

from advisor.advising import prober as prober_module
from advisor.advising.prober import Watcher
from advisor.advising.transport_prober import Prober
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import Interval
from advisor.domain.path import PathFacts
from advisor.models.steadiness import ProbeLength, SteadyPart
from advisor.runtime.connect import look_at_path, reach
from advisor.runtime.request import AdviceRequest

_SAMPLE_S = 0.1
_RULE = "steady_part"
"""The name by which the prober knows the rule for the part that counts."""


class ProbeOrder(msgspec.Struct, frozen=True):
    """One probe: `start_s` is left out, the `counted_s` after it count."""

    transport: str
    setting: dict[str, int | float | str]
    start_s: float
    counted_s: float


def window(start_s: float) -> Callable[..., SteadyPart]:
    """The part of a probe from `start_s` on, whether packets were lost or not."""

    def part(intervals: Sequence[Interval], length: ProbeLength, **_: object) -> SteadyPart:
        after = [n for n, i in enumerate(intervals) if i.start_s >= start_s - 0.01]
        first = after[0] if after else len(intervals) - 1
        counted = intervals[first:]
        lasted_s = counted[-1].end_s - counted[0].start_s
        bps = sum(i.received_bytes for i in counted) * 8 / lasted_s if lasted_s > 0 else 0.0
        settled = intervals[-1].end_s >= length.ceiling_s
        return SteadyPart(first=first, throughput_bps=bps, stderr_bps=0.0, settled=settled)

    return part


def _length(path: PathFacts, order: ProbeOrder) -> ProbeLength:
    whole_s = order.start_s + order.counted_s
    return ProbeLength(
        rtt_s=path.rtt_s,
        floor_s=whole_s,
        lossy_floor_s=whole_s,
        ceiling_s=whole_s,
        steady_s=whole_s,
        sample_every_s=_SAMPLE_S,
    )


async def serve(destination: str) -> None:
    request = AdviceRequest(destination=Endpoint.parse(destination))
    reached = await reach(request)
    path = await look_at_path(reached, request)
    _say(path)
    assert callable(getattr(prober_module, _RULE))
    prober = Prober(path)
    watcher = Watcher(lambda _: None, lambda _: None)
    try:
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = msgspec.json.decode(line, type=ProbeOrder)
            # advisor's own rule looks for the steady part; here it is given.
            setattr(prober_module, _RULE, window(order.start_s))
            probed = await prober.measure(
                reached.link, order.transport, order.setting, _length(path, order), watcher
            )
            _say(probed.outcome)
    finally:
        await prober.close()
        await reached.link.close()


def _say(what: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
