"""What the sender's kernel says about the TCP streams of a probe."""

import msgspec


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
    streams: int
    window_bytes: int
    starting: int
    cuts: int
    sent_segments: int
    segment_bytes: int
    busy_s: float = 0.0
    receiver_limited_s: float = 0.0
    buffer_limited_s: float = 0.0


class SenderReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the sender reported at `t_s` seconds since its first report.

    `retransmits`: segments sent again so far. `rtt_s`: the mean of the streams' smoothed RTTs.
    """

    t_s: float
    retransmits: int | None = None
    rtt_s: float | None = None
    state: SendingState | None = None
