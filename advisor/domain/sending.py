"""What the sender's kernel says about the TCP streams of a probe."""

from typing import Annotated

import msgspec

from advisor.domain.bounded import Count, Figure

_Some = Annotated[int, msgspec.Meta(ge=1, le=2**31)]


class SendingState(msgspec.Struct, frozen=True, kw_only=True):
    """The streams of a probe at one moment; figures are sums over them unless said otherwise.

    `window_bytes`: the congestion windows. `starting`: the number of streams in slow start, whose
    window is below its threshold. `cuts`: how often a loss has lowered the threshold of a stream
    so far, counted at most once per stream and sample. `sent_segments`: data segments sent so far,
    with retransmissions. `segment_bytes`: the smallest maximum segment size. `busy_s`: the time so
    far in which a stream had data to send, and of this `receiver_limited_s` in which it waited for
    the receiver's window and `buffer_limited_s` for the send buffer; all 0 before Linux 4.9.
    """

    congestion: str
    streams: _Some
    window_bytes: Count
    starting: Count
    cuts: Count
    sent_segments: Count
    segment_bytes: Count
    busy_s: Figure = 0.0
    receiver_limited_s: Figure = 0.0
    buffer_limited_s: Figure = 0.0


class LossesSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole probe of TCP shows of the path's losses.

    `cuts`: how often a loss that no full queue explains has lowered a stream's threshold, among
    `segments` sent in the time in which none was full. `full_cuts` and `full_segments`: the same
    in the time in which a queue may have been full, so that any of its cuts may be due to that.
    `all_cuts`: of whatever cause, and `later_cuts` of them after start-up.
    `full_window_bytes`: the congestion windows with which start-up ended, if the rate stayed at its
    highest after it, as on a full path, else 0. `window_limited`: whether it is known that neither
    the receiver nor the send buffer limited the rate then. `queue_free`: whether the RTT was then
    that of the idle path. `streams`, `segment_bytes`, `congestion`: of the sender.
    """

    congestion: str
    streams: _Some
    segment_bytes: _Some
    cuts: Count
    segments: Count
    all_cuts: Count
    later_cuts: Count
    full_cuts: Count = 0
    full_segments: Count = 0
    full_window_bytes: Count = 0
    window_limited: bool = False
    queue_free: bool = False


class SenderReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the sender reported at `t_s` seconds since its first report.

    `retransmits`: segments sent again so far. `rtt_s`: the mean of the streams' smoothed RTTs.
    """

    t_s: float
    retransmits: int | None = None
    rtt_s: float | None = None
    state: SendingState | None = None
