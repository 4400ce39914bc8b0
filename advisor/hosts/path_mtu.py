"""The largest IP packet that reaches another host unfragmented.

The kernel knows its own interface and what routers have reported. Devices that silently drop larger
packets are found only by sending: datagrams that may not be fragmented, to an echo that the agent
opens for one advisor. Only the forward direction matters, so the echo answers with a short datagram
that contains the size it received.
"""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.kernel_path_mtu import DISCOVER_PROBE, unfragmented_socket
from advisor.hosts.peer_filter import only_from

_HEADERS: Final = {socket.AF_INET: 20 + 8, socket.AF_INET6: 40 + 8}

LARGEST_PACKET: Final = 65535
USUAL_SIZES: Final = (9000, 8900, 4470, 1500, 1492, 1450, 1400, 1280)
"""Jumbo frames with and without a tunnel, SONET, Ethernet, PPPoE, VPNs, and IPv6's minimum."""

ECHO_ANSWERS: Final = 512
ECHO_LIFETIME_S: Final = 60.0
_GREETINGS: Final = 5
_GREETING_WAIT_S: Final = 0.5
_ROUNDS: Final = 3
_AT_ONCE: Final = 8
_NUMBERS: Final = struct.Struct("!IH")  # An id for the answer, and the size received.


class UdpBlocked(ProblemError):
    """No UDP datagram, however small, was answered; the message is a sentence."""

    kind = ProblemKind.UNREACHABLE


class UdpPath(msgspec.Struct, frozen=True, kw_only=True):
    """`mtu_bytes`: the largest IP packet that arrived. `rtt_s`: the smallest UDP RTT."""

    mtu_bytes: int
    rtt_s: float


async def probe_path_mtu(
    address: str, port: int, token: str, start_bytes: int, bound: str = ""
) -> int:
    """The largest IP packet in bytes that reaches the echo; see `probe_udp_path`."""
    return (await probe_udp_path(address, port, token, start_bytes, bound)).mtu_bytes


async def probe_udp_path(
    address: str, port: int, token: str, start_bytes: int, bound: str = ""
) -> UdpPath:
    """The largest IP packet, up to `start_bytes`, that reaches the echo at `address` unfragmented.

    `start_bytes` is the interface's MTU. Several sizes are tried at a time, since a round trip
    costs more than a datagram, and each three times before it counts as too large. `bound`: the
    address of this host to send from; "" where the kernel chooses.
    Raises UdpBlocked when nothing comes back, OSError when there is no route.
    """
    with unfragmented_socket(address, port, DISCOVER_PROBE, bound) as sock:
        sock.setblocking(False)
        probe = _Probe(sock, token)
        await probe.greet()
        lower, upper = probe.smallest, min(start_bytes, LARGEST_PACKET) + 1
        sizes = [upper - 1, *(size for size in USUAL_SIZES if lower < size < upper - 1)]
        while sizes:
            arrived = await probe.arriving(sizes)
            # Sizes above the best that arrived were tried often enough.
            upper = min((size for size in sizes if size > arrived), default=upper)
            lower = max(lower, arrived)
            sizes = _between(lower, upper)
        return UdpPath(mtu_bytes=lower, rtt_s=probe.rtt_s)


def _between(lower: int, upper: int) -> list[int]:
    """Up to eight sizes evenly spaced between the two; none when there are none in between."""
    parts = min(_AT_ONCE + 1, upper - lower)
    return [lower + (upper - lower) * part // parts for part in range(1, parts)]


class _Probe:
    """The sending side of one search."""

    def __init__(self, sock: socket.socket, token: str) -> None:
        self._sock = sock
        self._token = token.encode("ascii")
        self._headers = _HEADERS[socket.AddressFamily(sock.family)]
        self._sent: dict[int, float] = {}
        self.rtt_s = float("inf")

    @property
    def smallest(self) -> int:
        """The size of the smallest packet that can be sent."""
        return self._headers + len(self._token) + _NUMBERS.size

    async def greet(self) -> None:
        """Get one small datagram answered, which also measures the RTT. Raises UdpBlocked."""
        for _ in range(_GREETINGS):
            self._send(self.smallest)
            if await self._answered(_GREETING_WAIT_S, enough=self.smallest):
                return
        host, port = self._sock.getpeername()[:2]
        raise UdpBlocked(f"no UDP datagram came back from port {port} of {host}")

    async def arriving(self, sizes: Iterable[int]) -> int:
        """The largest of these packet sizes that arrived, 0 when none did."""
        best, left = 0, sorted(sizes)
        for _ in range(_ROUNDS):
            left = [size for size in left if size > best and self._send(size)]
            if not left:
                break
            best = max(best, await self._answered(self._timeout_s(), enough=left[-1]))
        return best

    def _timeout_s(self) -> float:
        return max(0.05, 3 * self.rtt_s)

    def _send(self, size: int) -> bool:
        """Send a packet of that size; False when it cannot leave this host."""
        number = len(self._sent)
        head = self._token + _NUMBERS.pack(number, 0)
        self._sent[number] = time.monotonic()
        try:
            self._sock.send(head.ljust(size - self._headers, b"\0"))
        except (BlockingIOError, ConnectionRefusedError):
            pass  # A full queue, or a refusal of an earlier one: treated as lost and retried.
        except OSError:  # EMSGSIZE: larger than the interface allows.
            return False
        return True

    async def _answered(self, wait_s: float, enough: int) -> int:
        """The largest packet acknowledged within `wait_s`; returns early once `enough` is."""
        best = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                while best < enough:
                    best = max(best, await self._one_answer())
        return best

    async def _one_answer(self) -> int:
        while True:
            try:
                data = await asyncio.get_running_loop().sock_recv(self._sock, 2048)
            except OSError:  # An ICMP error for an earlier datagram.
                continue
            if len(data) == len(self._token) + _NUMBERS.size and data.startswith(self._token):
                number, size = _NUMBERS.unpack_from(data, len(self._token))
                if number in self._sent:
                    self.rtt_s = min(self.rtt_s, time.monotonic() - self._sent[number])
                    return int(size) + self._headers


class UdpEcho(asyncio.DatagramProtocol):
    """The other side: reports to one host the size of each datagram that starts with the token.

    The kernel drops datagrams from any other address; an answer is never longer than the datagram
    it answers. Closes after 512 answers or one minute. Made by `open`.
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode("ascii")
        self._left = ECHO_ANSWERS
        self._transport: asyncio.DatagramTransport | None = None
        self._expiry = asyncio.get_running_loop().call_later(ECHO_LIFETIME_S, self.close)
        self.port = 0

    @classmethod
    async def open(cls, token: str, source_address: str, ports: tuple[int, int]) -> "UdpEcho":
        """An echo for `source_address` on the first free port of `ports` (0, 0: on any).

        Raises OSError without a free port, ValueError when `source_address` is not an address.
        """
        sock = _bound(source_address, ports)
        try:
            _, echo = await asyncio.get_running_loop().create_datagram_endpoint(
                lambda: cls(token), sock=sock
            )
        except BaseException:
            sock.close()
            raise
        echo.port = sock.getsockname()[1]
        return echo

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        # In Python 3.11 asyncio's own datagram transport is not a subclass of DatagramTransport.
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        """Called by asyncio."""
        if self._transport is None or self._left == 0 or not data.startswith(self._token):
            return
        if len(data) < len(self._token) + _NUMBERS.size:
            return
        number, _ = _NUMBERS.unpack_from(data, len(self._token))
        self._transport.sendto(self._token + _NUMBERS.pack(number, len(data)), addr)
        self._left -= 1
        if self._left == 0:
            self.close()

    def close(self) -> None:
        """Close the port; may be called again."""
        self._expiry.cancel()
        if self._transport is not None:
            self._transport.close()


def _bound(source_address: str, ports: tuple[int, int]) -> socket.socket:
    """A UDP socket that receives only from `source_address`, on the first free port."""
    family = socket.AF_INET6 if ":" in source_address else socket.AF_INET
    trouble = OSError("the range holds no port")
    for port in range(ports[0], ports[1] + 1):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        try:
            only_from(sock, source_address)  # Before the port is open.
            sock.bind(("", port))
        except OSError as error:
            sock.close()
            trouble = error
        except ValueError:
            sock.close()
            raise
        else:
            return sock
    raise trouble
