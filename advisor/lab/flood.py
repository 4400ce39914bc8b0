"""The small programs that measure a path from its ends: `python -m advisor.lab.flood`.

    watch ADDRESS             takes datagrams that it never reads, so that nothing is answered;
                              its first line is the port, then it prints the host's counters once
                              for each line it reads
    send JSON                 sends datagrams as described by a `Flow`; prints a line at the start
                              and one at the end
    echo ADDRESS COUNT GAP_S WAIT_S
                              sends ICMP echoes; one line at the end

They print JSON, and exit when their standard input closes. They run on the hosts of a lab and do
not depend on the emulator: the counts are those of each host's kernel.
"""

import contextlib
import errno
import fcntl
import os
import select
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Final

import msgspec

from advisor.lab.networks import DEVICE

HEADERS_BYTES: Final = 28
"""IPv4 and UDP, or IPv4 and ICMP: 20 and 8."""

ECHO_BYTES: Final = HEADERS_BYTES + 16
"""An echo as an IP packet."""

MOST_AT_ONCE: Final = 60
"""Datagrams per call where the kernel can split them itself (UDP_SEGMENT)."""

MOST_BYTES_AT_ONCE: Final = 65_000

_HARDWARE: Final = 0x8927  # SIOCGIFHWADDR
_ETHERNET: Final = 1
_ETHERNET_BYTES: Final = 14
_HURRY: Final = -15
_UDP_SEGMENT: Final = 103
_NO_SEGMENTS: Final = (errno.EIO, errno.EINVAL)
_TIMESTAMPS: Final = 35  # SO_TIMESTAMPNS, which the socket module does not name.
_TIMESTAMP: Final = struct.Struct("qq")
_ECHO: Final = struct.Struct("!BBHHH")
_ECHO_REQUEST: Final = 8
_ECHO_REPLY: Final = 0


class WatcherPort(msgspec.Struct, frozen=True):
    """The watcher's port for datagrams."""

    port: int


class InterfaceCounters(msgspec.Struct, frozen=True, kw_only=True):
    """The counters of a host's interface at `at_s` (CLOCK_MONOTONIC), in whole IP packets.

    `unsent`: packets dropped by the device for lack of space.
    """

    at_s: float
    received: int
    received_bytes: int
    sent: int
    sent_bytes: int
    unsent: int


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """Datagrams for `seconds`, each an IP packet of `packet_bytes`, `at_once` of them in a row.

    `make_up_s`: how much time lost waiting for the processor is made up for.
    """

    address: str
    port: int
    packet_bytes: int
    pace_pps: float
    at_once: int
    seconds: float
    make_up_s: float


class Begun(msgspec.Struct, frozen=True):
    """When the first datagram was sent (CLOCK_MONOTONIC)."""

    at_s: float


class Sent(msgspec.Struct, frozen=True):
    """The number of datagrams the kernel accepted."""

    datagrams: int


class Echoes(msgspec.Struct, frozen=True):
    """The number of echoes sent, and the RTT of each one that was answered."""

    sent: int
    samples_s: list[float]


def _say(what: msgspec.Struct) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.buffer.flush()


def _link_header_bytes() -> int:
    """The bytes per packet that the interface counts in addition to the IP packet."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        answer = fcntl.ioctl(sock, _HARDWARE, struct.pack("16s24x", DEVICE.encode()))
    kind = struct.unpack_from("H", answer, 16)[0]
    return _ETHERNET_BYTES if kind == _ETHERNET else 0


def _counters(header_bytes: int) -> InterfaceCounters:
    text = Path("/proc/self/net/dev").read_text()
    at_s = time.monotonic()
    line = next(line for line in text.splitlines() if line.strip().startswith(f"{DEVICE}:"))
    numbers = [int(word) for word in line.split(":")[1].split()]
    return InterfaceCounters(
        at_s=at_s,
        received_bytes=numbers[0] - numbers[1] * header_bytes,
        received=numbers[1],
        sent_bytes=numbers[8] - numbers[9] * header_bytes,
        sent=numbers[9],
        unsent=numbers[11],
    )


def _watch(address: str) -> None:
    header_bytes = _link_header_bytes()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        # Nothing is read: the kernel keeps what fits and drops the rest, after counting it.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        taken.bind((address, 0))
        _say(WatcherPort(taken.getsockname()[1]))
        while sys.stdin.buffer.readline():
            _say(_counters(header_bytes))


class _Sender:
    """Sends several equal datagrams in a row, in one call where the kernel can."""

    def __init__(self, sock: socket.socket, payload_bytes: int, at_once: int) -> None:
        self._sock = sock
        self._one = bytes(payload_bytes)
        self._all = bytes(payload_bytes * at_once)
        self._at_once = at_once
        self._by_segments = at_once > 1
        if self._by_segments:
            try:
                sock.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, payload_bytes)
            except OSError:
                self._by_segments = False

    def send(self) -> int:
        """Send; return how many the kernel accepted."""
        if self._by_segments:
            try:
                self._sock.send(self._all)
                return self._at_once
            except OSError as error:
                if error.errno not in _NO_SEGMENTS:
                    return 0
                # Kernels before 6.11 cannot if the device does not compute checksums.
                self._by_segments = False
                self._sock.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, 0)
        taken = 0
        for _ in range(self._at_once):
            with contextlib.suppress(OSError):
                self._sock.send(self._one)
                taken += 1
        return taken


def _send(flow: Flow) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((flow.address, flow.port))
        sender = _Sender(sock, flow.packet_bytes - HEADERS_BYTES, flow.at_once)
        gap_s = flow.at_once / flow.pace_pps
        due_s = now_s = time.monotonic()
        ends_s = now_s + flow.seconds
        _say(Begun(now_s))
        datagrams = 0
        while now_s < ends_s:
            datagrams += sender.send()
            due_s = max(due_s + gap_s, now_s - flow.make_up_s)
            time.sleep(max(0.0, due_s - time.monotonic()))
            now_s = time.monotonic()
    _say(Sent(datagrams))


def _echo_socket(address: str) -> socket.socket:
    """Without privileges first: it works for every user in net.ipv4.ping_group_range."""
    try:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    except PermissionError:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    sock.connect((address, 0))
    # The time when the answer arrived, not when this program got to read it.
    sock.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)
    return sock


def _request(number: int) -> bytes:
    identity = os.getpid() & 0xFFFF
    body = bytes(ECHO_BYTES - HEADERS_BYTES)
    total = (_ECHO_REQUEST << 8) + identity + number
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return _ECHO.pack(_ECHO_REQUEST, 0, ~total & 0xFFFF, identity, number) + body


def _answer(sock: socket.socket) -> tuple[int, float] | None:
    """The number of the answered echo and its time (wall clock); None for other messages."""
    data, ancillary, _, _ = sock.recvmsg(256, 64)
    if sock.type == socket.SOCK_RAW:
        data = data[(data[0] & 15) * 4 :]
    kind, _, _, identity, number = _ECHO.unpack_from(data)
    is_ours = sock.type != socket.SOCK_RAW or identity == os.getpid() & 0xFFFF
    if kind != _ECHO_REPLY or not is_ours or not ancillary:
        return None
    seconds, nanoseconds = _TIMESTAMP.unpack(ancillary[0][2])
    return number, seconds + nanoseconds * 1e-9


def _echo(address: str, count: int, gap_s: float, wait_s: float) -> None:
    """Keep many in flight at once: on a long path, waiting for each would take long."""
    sent_at_s: list[float] = []
    answered: dict[int, float] = {}
    with _echo_socket(address) as sock:
        next_s = time.monotonic()
        while len(answered) < count:
            now_s = time.monotonic()
            if now_s >= next_s:
                if len(sent_at_s) == count:
                    break
                sent_at_s.append(time.time())
                with contextlib.suppress(OSError):
                    sock.send(_request(len(sent_at_s) - 1))
                next_s = now_s + (gap_s if len(sent_at_s) < count else wait_s)
            elif select.select([sock], [], [], next_s - now_s)[0] and (found := _answer(sock)):
                number, at_s = found
                answered[number] = at_s - sent_at_s[number]
    # A value not above zero means that the wall clock was set.
    _say(Echoes(len(sent_at_s), [took_s for took_s in answered.values() if took_s > 0]))


def _leave_with_input() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(1)


def main(arguments: list[str]) -> None:
    """Run one of the programs."""
    # Take precedence over other programs on this machine. Only root may.
    with contextlib.suppress(PermissionError):
        os.nice(_HURRY)
    if arguments[0] != "watch":
        threading.Thread(target=_leave_with_input, daemon=True).start()
    match arguments:
        case ["watch", address]:
            _watch(address)
        case ["send", flow]:
            _send(msgspec.json.decode(flow, type=Flow))
        case ["echo", address, count, gap_s, wait_s]:
            _echo(address, int(count), float(gap_s), float(wait_s))
    sys.stdout.flush()
    os._exit(0)  # The thread may still wait for standard input.


if __name__ == "__main__":
    main(sys.argv[1:])
