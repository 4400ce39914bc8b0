"""libudt's statistics of a connection: the C structure, and the one for callers."""

import ctypes
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Perf:
    """libudt's statistics of a connection (CPerfMon), its names in snake case.

    Prefixes are units: `pkt` packets, `us` and `ms` times, `mbps` 10^6 bit/s, `byte` bytes. The
    `*_total` fields count from the connection's start, the ones without since the last `clear`.
    libudt's 32-bit counters may wrap in long transfers.
    """

    ms_time_stamp: int
    pkt_sent_total: int
    """Retransmissions included."""
    pkt_recv_total: int
    pkt_snd_loss_total: int
    pkt_rcv_loss_total: int
    pkt_retrans_total: int
    pkt_sent_ack_total: int
    pkt_recv_ack_total: int
    pkt_sent_nak_total: int
    pkt_recv_nak_total: int
    us_snd_duration_total: int
    """Time with something to send."""
    pkt_sent: int
    pkt_recv: int
    pkt_snd_loss: int
    pkt_rcv_loss: int
    pkt_retrans: int
    pkt_sent_ack: int
    pkt_recv_ack: int
    pkt_sent_nak: int
    pkt_recv_nak: int
    mbps_send_rate: float
    mbps_recv_rate: float
    us_snd_duration: int
    us_pkt_snd_period: float
    pkt_flow_window: int
    """Free buffer at the receiver, from its last acknowledgement."""
    pkt_congestion_window: int
    pkt_flight_size: int
    ms_rtt: float
    """Smoothed; starts at 100 ms and falls with the acknowledgements."""
    mbps_bandwidth: float
    """libudt's estimate; it can be negative and is not reliable alone."""
    byte_avail_snd_buf: int
    """0 also when libudt had no time to look; wraps above 2 GiB."""
    byte_avail_rcv_buf: int
    """0 also when libudt had no time to look; wraps above 2 GiB."""


class TraceInfo(ctypes.Structure):
    """CPerfMon of udt.h, field by field; `Perf` has the same order."""

    _fields_ = (
        ("msTimeStamp", ctypes.c_int64),
        ("pktSentTotal", ctypes.c_int64),
        ("pktRecvTotal", ctypes.c_int64),
        ("pktSndLossTotal", ctypes.c_int),
        ("pktRcvLossTotal", ctypes.c_int),
        ("pktRetransTotal", ctypes.c_int),
        ("pktSentACKTotal", ctypes.c_int),
        ("pktRecvACKTotal", ctypes.c_int),
        ("pktSentNAKTotal", ctypes.c_int),
        ("pktRecvNAKTotal", ctypes.c_int),
        ("usSndDurationTotal", ctypes.c_int64),
        ("pktSent", ctypes.c_int64),
        ("pktRecv", ctypes.c_int64),
        ("pktSndLoss", ctypes.c_int),
        ("pktRcvLoss", ctypes.c_int),
        ("pktRetrans", ctypes.c_int),
        ("pktSentACK", ctypes.c_int),
        ("pktRecvACK", ctypes.c_int),
        ("pktSentNAK", ctypes.c_int),
        ("pktRecvNAK", ctypes.c_int),
        ("mbpsSendRate", ctypes.c_double),
        ("mbpsRecvRate", ctypes.c_double),
        ("usSndDuration", ctypes.c_int64),
        ("usPktSndPeriod", ctypes.c_double),
        ("pktFlowWindow", ctypes.c_int),
        ("pktCongestionWindow", ctypes.c_int),
        ("pktFlightSize", ctypes.c_int),
        ("msRTT", ctypes.c_double),
        ("mbpsBandwidth", ctypes.c_double),
        ("byteAvailSndBuf", ctypes.c_int),
        ("byteAvailRcvBuf", ctypes.c_int),
    )


def perf_from(raw: TraceInfo) -> Perf:
    """What libudt wrote into `raw`."""
    values = (getattr(raw, name) for name, _ in TraceInfo._fields_)
    return Perf(**dict(zip(Perf.__slots__, values, strict=True)))
