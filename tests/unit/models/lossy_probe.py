"""A probe of TCP and the losses that it met."""

from advisor.domain.measurement import Interval, Measurement
from advisor.domain.sending import LossesSeen

SEGMENT_BYTES = 1448
STEP_S = 0.1


def lossy_probe(
    bps: float,
    *,
    streams: int = 1,
    cuts: int = 0,
    segments: int = 50_000,
    control: str = "cubic",
    full_cuts: int = 0,
    full_segments: int = 0,
    window_limited: bool = False,
    early_cuts: int = 0,
    queue_free: bool = False,
) -> Measurement:
    """Three seconds at a steady rate."""
    return Measurement(
        throughput_bps=bps,
        stderr_bps=bps / 50,
        intervals=[
            Interval(n * STEP_S, (n + 1) * STEP_S, round(bps * STEP_S / 8)) for n in range(30)
        ],
        steady_from=0,
        settled=True,
        elapsed_s=3.0,
        losses=LossesSeen(
            congestion=control,
            streams=streams,
            segment_bytes=SEGMENT_BYTES,
            cuts=cuts,
            segments=segments,
            full_cuts=full_cuts,
            full_segments=full_segments,
            all_cuts=early_cuts + cuts,
            later_cuts=cuts,
            window_limited=window_limited,
            queue_free=queue_free,
        ),
    )
