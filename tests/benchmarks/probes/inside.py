"""Runs on a lab's source: long runs through advisor's own prober, with all that its rule gets.

`python -m tests.benchmarks.probes.inside lab:NAME`. For each order on standard input it prints one
recording as a line of JSON. The rule is replaced by one that never stops before the given time, so
that both rules can be played on the same recording afterwards.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import msgspec

from advisor.advising import prober as prober_module
from advisor.advising.prober import Watcher
from advisor.advising.transport_prober import Prober
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.sending import SenderReport
from advisor.models.steadiness import ProbeLength, SteadyPart, probe_length
from advisor.runtime.connect import look_at_path, reach
from advisor.runtime.request import AdviceRequest
from tests.benchmarks.probes.recordings import Order, Recording

_RULE = "steady_part"
"""The name by which the prober knows its rule."""


class _Recorder:
    """Stands in for the rule: keeps what it is given, and stops at the time limit alone."""

    def __init__(self) -> None:
        self.intervals: Sequence[Interval] = ()
        self.reports: Sequence[SenderReport] = ()

    def __call__(
        self,
        intervals: Sequence[Interval],
        length: ProbeLength,
        *,
        reports: Sequence[SenderReport],
    ) -> SteadyPart:
        self.intervals, self.reports = intervals, reports
        return SteadyPart(first=0, throughput_bps=1.0, stderr_bps=0.0, settled=False)


async def serve(destination: str) -> None:
    request = AdviceRequest(destination=Endpoint.parse(destination))
    reached = await reach(request)
    path = await look_at_path(reached, request)
    assert callable(getattr(prober_module, _RULE))
    prober = Prober(path)
    try:
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = msgspec.json.decode(line, type=Order)
            recorder = _Recorder()
            setattr(prober_module, _RULE, recorder)
            length = msgspec.structs.replace(probe_length(path.rtt_s), ceiling_s=order.lasts_s)
            probed = await prober.measure(
                reached.link,
                "tcp",
                order.setting,
                length,
                Watcher(lambda _: None, lambda _: None),
            )
            failed = "" if isinstance(probed.outcome, Measurement) else probed.outcome.message
            recording = Recording(
                order=order,
                rtt_s=path.rtt_s,
                intervals=list(recorder.intervals),
                reports=list(recorder.reports),
                failed=failed,
            )
            sys.stdout.buffer.write(msgspec.json.encode(recording) + b"\n")
            sys.stdout.buffer.flush()
    finally:
        await prober.close()
        await reached.link.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
