"""The kernel's counters for the TCP connections of this process (TCP_INFO).

While foreign code owns the sockets, the kernel's counters are the only ones that can be read during
the transfer.
"""

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Iterable
from typing import Final

import msgspec

from advisor.domain.sending import SendingState
from advisor.hosts.own_sockets import borrowed, is_tcp, open_fds

# Offsets in struct tcp_info of linux/tcp.h, which only ever grows at its end.
_STATE: Final = 0
_PMTU: Final = 60
_RTT_US: Final = 68
_RETRANSMITS: Final = 100
_BYTES: Final = 120  # tcpi_bytes_acked, then tcpi_bytes_received
_MINIMUM_RTT_US: Final = 148  # tcpi_min_rtt, since Linux 4.6
_SEGMENTS: Final = 16  # tcpi_snd_mss, tcpi_rcv_mss
_SEGMENTS_IN: Final = 152  # tcpi_data_segs_in, since Linux 4.6
_SEGMENTS_OUT: Final = 156  # tcpi_data_segs_out, since Linux 4.6
_THRESHOLD: Final = 76  # tcpi_snd_ssthresh, tcpi_snd_cwnd, in segments
_BUSY_US: Final = 168  # tcpi_busy_time, tcpi_rwnd_limited, tcpi_sndbuf_limited, since Linux 4.9
_LENGTH: Final = 192
_NO_RTT: Final = 0xFFFFFFFF

# The states in which data has flowed or may flow (net/tcp_states.h): established, fin-wait-1,
# fin-wait-2, close-wait, last-ack, closing.
CONNECTED: Final = frozenset({1, 4, 5, 8, 9, 11})


class TcpTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The sums over all streams seen so far.

    `streams`: their number. `received_bytes`, `acked_bytes`, `retransmits`: over all of them,
    closed ones with their last values; never decreasing. The kernel counts the SYN of the
    connecting side as one acknowledged byte, and before Linux 4.1 it counts no bytes at all.
    `arrived_bytes`: what has reached this host in segments, in order or not, as if each were full;
    0 before Linux 4.6. Of the open streams, None without any: `rtt_s`, the mean of the kernel's
    smoothed RTTs; `send_buffer_bytes`, `receive_buffer_bytes`, the smallest SO_SNDBUF and
    SO_RCVBUF, which is twice the requested size; `pmtu_bytes`, the smallest; `congestion`, the
    control in use, several separated by commas; `sending`, the state of the sender.
    """

    streams: int
    received_bytes: int
    acked_bytes: int
    retransmits: int
    arrived_bytes: int
    rtt_s: float | None
    send_buffer_bytes: int | None
    receive_buffer_bytes: int | None
    pmtu_bytes: int | None
    congestion: str | None
    sending: SendingState | None = None


class Counters(msgspec.Struct, frozen=True, kw_only=True):
    """The counters of struct tcp_info for one connection, as in `TcpTotals`."""

    received_bytes: int
    acked_bytes: int
    retransmits: int
    arrived_bytes: int
    rtt_s: float
    pmtu_bytes: int


class _Window(msgspec.Struct, frozen=True, kw_only=True):
    """The congestion window of one connection; sizes in segments, times as in `SendingState`."""

    size: int
    threshold: int
    segment_bytes: int
    sent_segments: int
    busy_s: float
    receiver_limited_s: float
    buffer_limited_s: float


class _Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one stream."""

    info: bytes
    counted: Counters
    window: _Window
    send_buffer_bytes: int
    receive_buffer_bytes: int
    congestion: str


def is_cut(before: bytes, now: bytes) -> bool:
    """Whether, between two struct tcp_info of a connection, a loss has cut its window.

    The end of slow start because the delay rose (HyStart) sets the threshold too, and is none.
    """
    has_lost = counters(now).retransmits > counters(before).retransmits
    return has_lost and _window(now).threshold != _window(before).threshold


class TcpSockets:
    """The TCP connections of this process, except those that are not data streams.

    Listening sockets never count. For one thread at a time.
    """

    def __init__(self, excluded_fds: Iterable[int] = ()) -> None:
        """`excluded_fds`: connections that carry no data, such as the tool's own control."""
        # Descriptors are reused; the inode identifies the connection.
        self._excluded: set[int] = set()
        self._foreign: set[int] = set()
        self._last: dict[int, _Reading] = {}
        self._cuts = 0
        for fd in excluded_fds:
            self.exclude(fd)

    def exclude(self, fd: int) -> None:
        """Exclude the connection of `fd` from now on; a closed descriptor is ignored.

        A connection that was counted is removed from the sums, which then decrease this once.
        """
        with contextlib.suppress(OSError):
            inode = os.fstat(fd).st_ino
            self._excluded.add(inode)
            self._last.pop(inode, None)

    def totals(self) -> TcpTotals:
        """The present sums."""
        now_open = [inode for fd in open_fds() if (inode := self._look(fd)) is not None]
        now_open_readings = [self._last[inode] for inode in set(now_open)]
        return _summed(list(self._last.values()), now_open_readings, self._cuts)

    def _look(self, fd: int) -> int | None:
        """Read one descriptor; the inode if it is a data stream, None otherwise."""
        try:
            status = os.fstat(fd)
            skipped = status.st_ino in self._foreign or status.st_ino in self._excluded
            if skipped or not stat.S_ISSOCK(status.st_mode):
                return None
            with borrowed(fd) as sock:
                # Check again: the descriptor may have been reused since.
                inode = os.fstat(sock.fileno()).st_ino
                if not is_tcp(sock):
                    self._foreign.add(inode)
                    return None
                return self._note(inode, sock)
        except OSError:  # Closed in the meantime.
            return None

    def _note(self, inode: int, sock: socket.socket) -> int | None:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
        if inode in self._excluded or info[_STATE] not in CONNECTED:
            return None
        before = self._last.get(inode)
        if before is not None and is_cut(before.info, info):
            self._cuts += 1
        self._last[inode] = _reading(sock, info)
        return inode


def minimum_rtt_s(fd: int) -> float | None:
    """The kernel's minimum RTT of the last minutes on a connection, in seconds.

    None when the descriptor is closed or not a TCP socket, or the kernel has no sample (always
    before Linux 4.6).
    """
    try:
        with borrowed(fd) as sock:
            if not is_tcp(sock):
                return None
            info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
    except OSError:
        return None
    info = info.ljust(_LENGTH, b"\0")
    (rtt_us,) = struct.unpack_from("=I", info, _MINIMUM_RTT_US)
    return None if rtt_us in (0, _NO_RTT) else rtt_us / 1e6


def received_bytes(sock: socket.socket) -> int:
    """The bytes that a TCP connection has received so far. Raises OSError."""
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
    return counters(info).received_bytes


def counters(info: bytes) -> Counters:
    """The counters of a struct tcp_info from any kernel version."""
    # An older kernel returns a shorter structure: missing counters are 0.
    info = info.ljust(_LENGTH, b"\0")
    pmtu_bytes, _, rtt_us = struct.unpack_from("=III", info, _PMTU)
    acked_bytes, received_bytes = struct.unpack_from("=QQ", info, _BYTES)
    (segments_in,) = struct.unpack_from("=I", info, _SEGMENTS_IN)
    _, segment_bytes = struct.unpack_from("=II", info, _SEGMENTS)
    return Counters(
        received_bytes=received_bytes,
        acked_bytes=acked_bytes,
        retransmits=struct.unpack_from("=I", info, _RETRANSMITS)[0],
        arrived_bytes=segments_in * segment_bytes,
        rtt_s=rtt_us / 1e6,
        pmtu_bytes=pmtu_bytes,
    )


def _window(info: bytes) -> _Window:
    info = info.ljust(_LENGTH, b"\0")
    threshold, size = struct.unpack_from("=II", info, _THRESHOLD)
    segment_bytes, _ = struct.unpack_from("=II", info, _SEGMENTS)
    times_us = struct.unpack_from("=QQQ", info, _BUSY_US)
    return _Window(
        size=size,
        threshold=threshold,
        segment_bytes=segment_bytes,
        sent_segments=struct.unpack_from("=I", info, _SEGMENTS_OUT)[0],
        busy_s=times_us[0] / 1e6,
        receiver_limited_s=times_us[1] / 1e6,
        buffer_limited_s=times_us[2] / 1e6,
    )


def _reading(sock: socket.socket, info: bytes) -> _Reading:
    congestion = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return _Reading(
        info=info,
        counted=counters(info),
        window=_window(info),
        send_buffer_bytes=sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
        receive_buffer_bytes=sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
        congestion=congestion.split(b"\0")[0].decode("ascii", "replace"),
    )


def _sending(now_open: list[_Reading], cuts: int) -> SendingState | None:
    if not now_open:
        return None
    windows = [r.window for r in now_open]
    return SendingState(
        congestion=",".join(sorted({r.congestion for r in now_open})),
        streams=len(now_open),
        window_bytes=sum(w.size * w.segment_bytes for w in windows),
        starting=sum(w.size < w.threshold for w in windows),
        cuts=cuts,
        sent_segments=sum(w.sent_segments for w in windows),
        segment_bytes=min(w.segment_bytes for w in windows),
        busy_s=sum(w.busy_s for w in windows),
        receiver_limited_s=sum(w.receiver_limited_s for w in windows),
        buffer_limited_s=sum(w.buffer_limited_s for w in windows),
    )


def _summed(every: list[_Reading], now_open: list[_Reading], cuts: int) -> TcpTotals:
    rtts_s = [r.counted.rtt_s for r in now_open if r.counted.rtt_s > 0]
    return TcpTotals(
        streams=len(every),
        received_bytes=sum(r.counted.received_bytes for r in every),
        acked_bytes=sum(r.counted.acked_bytes for r in every),
        retransmits=sum(r.counted.retransmits for r in every),
        arrived_bytes=sum(r.counted.arrived_bytes for r in every),
        rtt_s=sum(rtts_s) / len(rtts_s) if rtts_s else None,
        send_buffer_bytes=min((r.send_buffer_bytes for r in now_open), default=None),
        receive_buffer_bytes=min((r.receive_buffer_bytes for r in now_open), default=None),
        pmtu_bytes=min((r.counted.pmtu_bytes for r in now_open), default=None),
        congestion=",".join(sorted({r.congestion for r in now_open})) or None,
        sending=_sending(now_open, cuts),
    )
