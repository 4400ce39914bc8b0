"""Both rules on transfers played in rounds, at settings that no development looked at.

The same rounds as in the tests (`tests/unit/models/tcp_rounds.py`): windows, a queue, losses at
random. True is the mean of the rounds after the first 300.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from tests.benchmarks.probes.recordings import Order, Recording
from tests.unit.models.tcp_rounds import Rounds

_RTTS_MS: Final = (30.0, 70.0, 130.0, 250.0)
_RATES_BPS: Final = (2e8, 1e9)
_STREAMS: Final = (2, 4, 16)
_QUEUES: Final = (0.3, 2.0)
LOSSES: Final = ("0", "3e-5", "3e-4")
CONTROLS: Final = ("reno", "cubic")
_ROUNDS: Final = 1500
_LEFT_OUT: Final = 300


def simulated(control: str, loss: str) -> Iterator[tuple[Recording, float]]:
    """One transfer for each of the other settings, with its true rate in bit/s."""
    settings = itertools.product(_RTTS_MS, _RATES_BPS, _STREAMS, _QUEUES)
    for seed, (rtt_ms, rate_bps, streams, queue) in enumerate(settings):
        rounds = Rounds(
            control,
            streams=streams,
            rtt_s=rtt_ms / 1000,
            rate_bps=rate_bps,
            loss=float(loss),
            queue=queue,
            seed=seed,
        )
        both = list(rounds.run(_ROUNDS))
        late = [interval for interval, _ in both[_LEFT_OUT:]]
        lasted_s = late[-1].end_s - late[0].start_s
        recording = Recording(
            order=Order(
                rtt_ms=rtt_ms, loss=loss, control=control, streams=streams, lasts_s=lasted_s
            ),
            rtt_s=rtt_ms / 1000,
            intervals=[interval for interval, _ in both[:_LEFT_OUT]],
            reports=[report for _, report in both[:_LEFT_OUT]],
        )
        yield recording, sum(i.received_bytes for i in late) * 8 / lasted_s
