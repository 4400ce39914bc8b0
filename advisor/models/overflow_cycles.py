"""What reno reaches in the long run on a path that loses nothing but what overflows its own queue.

Its windows grow by a segment a round trip until the queue overflows, and are halved. Slow start
overflows it first, and a short probe then sees one part of the cycle: a rate that stays low for as
long as it lasts, or one that is still full. With the capacity C, the product of bandwidth and delay
as 1, and a queue of q, a window grows from k (1 + q) to 1 + q. Below 1 the rate is the window's,
above it is C and the round trips last longer. The mean over a cycle is therefore

    u = (a + b) / (t + b), with t = 1 - k (1 + q), a = (1 - (k (1 + q))^2) / 2,
    b = ((1 + q)^2 - 1) / 2, and u = 1 where k (1 + q) is 1 or more.

k is 1/2 for one stream. Of many an overflow meets about a half, so their sum keeps 3/4.

A cycle may last minutes (half a window in round trips). What is expected is the mean of the first
minute after the probe, in which the windows grow as reno's do.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import Final

from advisor.domain.sending import LossesSeen, SenderReport
from advisor.models.loss_response import RISE, LongRun, has_waited

_KEPT: Final = 0.5
_HORIZON_S: Final = 60.0

_ENOUGH_CYCLES: Final = 2
"""Over this many the mean is what it will be."""

_MODEL_ERROR: Final = 0.08
"""How far u is from measured means, as a logarithm: recovery takes time, overflows meet more."""


def cycle_mean(queue: float, streams: int) -> float:
    """u: the mean rate over a cycle, as a fraction of the capacity.

    `queue`: in bandwidth-delay products, at least 0.
    """
    peak = 1 + queue
    met = (1 + 1 / streams) / 2
    low = peak * (1 - met * (1 - _KEPT))
    if low >= 1:
        return 1.0
    below_s, below = 1 - low, (1 - low**2) / 2
    above = (peak**2 - 1) / 2
    return (below + above) / (below_s + above)


def after_overflow(
    reports: Sequence[SenderReport],
    losses: LossesSeen,
    rtt_s: float,
    peak_bps: float,
    highest_bps: float,
    mean_bps: float,
) -> LongRun | None:
    """What the windows reach again; None for other losses, another control, and limited windows.

    `peak_bps`, `highest_bps`, `mean_bps`: the highest rate for a moment, that for longer, and the
    mean since start-up. `rtt_s`: of the idle path.
    """
    if losses.congestion != "reno" or losses.cuts or not losses.all_cuts or mean_bps <= 0:
        return None
    cycles = losses.later_cuts / losses.streams
    if cycles >= _ENOUGH_CYCLES:
        return None
    since = [(r, r.state) for r in reports if r.state and not r.state.starting][1:]
    if len(since) < 2 or has_waited(since[0][1], since[-1][1]):
        return None
    queue = max(0.0, max((r.rtt_s / rtt_s - 1 for r in reports if r.rtt_s), default=0.0))
    share = cycle_mean(queue, losses.streams)
    if share >= 1:
        return None
    standing_bps = [
        state.window_bytes * 8 / r.rtt_s
        for r, state in since
        if r.rtt_s and r.rtt_s > (1 + RISE) * rtt_s
    ]
    capacity_bps, error = max(highest_bps, mean_bps), _MODEL_ERROR
    if standing_bps:
        capacity_bps = max(capacity_bps, min(median(standing_bps), peak_bps))
    elif cycles >= 1:
        return None
    else:
        error = math.hypot(error, _unseen_error(capacity_bps, mean_bps, queue))
    growth_bps = losses.streams * losses.segment_bytes * 8 / rtt_s**2
    error, memory = math.hypot(error, (1 - share) / 2), _KEPT**cycles
    return LongRun(
        rate_bps=_mean_ahead(mean_bps, capacity_bps, share, growth_bps),
        error=error,
        memory=memory,
        least_error=memory * error,
    )


def _unseen_error(seen_bps: float, mean_bps: float, queue: float) -> float:
    """How far the capacity may be above what was seen where no queue stood, as a logarithm.

    The path may carry as much as the windows before they were halved; evenly spread up to there.
    """
    most_bps = max(seen_bps, mean_bps / _KEPT / (1 + queue))
    return math.log(most_bps / seen_bps) / math.sqrt(12)


def _mean_ahead(now_bps: float, capacity_bps: float, share: float, growth_bps: float) -> float:
    """The mean of the first minute of windows that grow by `growth_bps` a second until they fill
    the path, and go through cycles from then on."""
    growing_s = min(_HORIZON_S, max(0.0, capacity_bps - now_bps) / growth_bps)
    grown_bps = now_bps + growth_bps * growing_s / 2
    cycling_s = _HORIZON_S - growing_s
    return (growing_s * grown_bps + cycling_s * share * capacity_bps) / _HORIZON_S
