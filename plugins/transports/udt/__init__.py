"""UDT through Debian's libudt: block size × buffer, one stream, from memory to memory.

θ_UDT = [l, f] of ProbData's equation 4: the block size l is a whole number of payloads, the
buffer f is libudt's sending and receiving buffer alike. The packet size is not searched but taken
from the path MTU (equation 3: payload = MTU − 44; over IPv6, whose header is 20 bytes longer than
the one that libudt counts, MTU − 64), and there is one stream, since UDT is not designed for
several (ProbData, III.B). The flow window FC is set to cover the buffer; otherwise libudt would
reduce the buffer silently. The UDP socket keeps libudt's default kernel buffers.

Equation 11 bounds the buffer by the bandwidth-delay product. If no bandwidth was given, the best
throughput seen before is used instead: an oversized buffer slows UDT down (figure 2 of the paper),
and the default range up to 2 GB would spend most of the search there.
"""

import contextlib
import ctypes
import queue
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from advisor.api.network import (
    buffer_range,
    kernel_path_mtu,
    libudt_version,
    only_from,
    own_address_facing,
    repeat_every,
    shared_library,
    usable_address,
)
from advisor.api.transport import Channel, ReceiveOrder, SendOrder, SpaceOptions, TransportTraits
from advisor.api.values import (
    AVAILABLE,
    Availability,
    Baseline,
    FailureKind,
    Parameter,
    PathFacts,
    Requirement,
    Scale,
    Setting,
    Space,
    install_line,
)

from .pyudt import (
    HEADER_BYTES,
    MSS_RANGE,
    REPEAT_SOURCE,
    Counter,
    Option,
    Socket,
    UdtClosed,
    UdtError,
    UdtMissing,
    library,
    receive_blocks,
    send_blocks,
)

_BLOCKS: Final = 25
"""The largest block in payloads: ProbData's range (IV.D.3)."""

_LEAST_PACKETS: Final = 32
"""The smallest receiving buffer that libudt accepts."""

_DEFAULT_WINDOW: Final = 25600
_UDP_HEADER_BYTES: Final = 28
_LONGER_IN_IPV6_BYTES: Final = 20
"""An IPv6 packet is longer than libudt's MSS, which counts IPv4's header."""

_MEMORY_SHARE: Final = 1 / 16
"""The share of either host's memory that one end's buffer may take."""

_SYN_S: Final = 0.01
"""libudt acknowledges every 10 ms, not every packet: data is in flight that much longer."""

_ACCEPT_S: Final = 10.0
_POLL_S: Final = 0.02
_TOKEN_S: Final = 3.0
_AT_ONCE: Final = 32
"""Connections that may be about to show the token."""

_NO_ANSWER: Final = 1001


def _fitting_mss(mtu_bytes: int, address: str) -> int:
    """The MSS whose packets to `address` fill the path MTU."""
    longer_bytes = _LONGER_IN_IPV6_BYTES if _family(address) == socket.AF_INET6 else 0
    return min(MSS_RANGE[1], max(MSS_RANGE[0], mtu_bytes - longer_bytes))


def _options(setting: Setting, address: str) -> dict[Option, int]:
    """libudt's options. A setting of another path may have too large packets for this one."""
    mss, buffer_bytes = int(setting["mss_bytes"]), int(setting["buffer_bytes"])
    # Without a route, connecting fails and says so.
    with contextlib.suppress(OSError):
        mss = min(mss, _fitting_mss(kernel_path_mtu(address), address))
    packets = -(-buffer_bytes // (mss - _UDP_HEADER_BYTES))
    return {
        Option.MSS: mss,
        Option.FC: max(_DEFAULT_WINDOW, packets + 1),
        Option.SNDBUF: buffer_bytes,
        Option.RCVBUF: buffer_bytes,
    }


def _family(address: str) -> int:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


class Udt:
    """The transport `udt`."""

    name = "udt"
    summary = "UDT 4, block size × buffer, one stream, through libudt"
    traits = TransportTraits(
        label="UDT",
        cost_rank=1,
        budget_weight=2.0,
        mark="▲",
        colour="orange",
        is_default=True,
        requirements=(
            Requirement(
                name="libudt",
                purpose="profile UDT",
                find=libudt_version,
                remedy=install_line("libudt"),
            ),
        ),
    )

    def available(self) -> Availability:
        """Whether libudt is installed."""
        try:
            library()
        except UdtMissing:
            return Availability("libudt is not installed", install_line("libudt"))
        return AVAILABLE

    def variants(self, path: PathFacts, congestion: list[str]) -> list[Setting]:
        """One: the packet size of this path. libudt brings its own congestion control."""
        return [{"mss_bytes": _fitting_mss(path.mtu_bytes, path.destination_address)}]

    def space(self, path: PathFacts, fixed: Setting, options: SpaceOptions) -> Space:
        """θ_UDT = [l, f] on this path."""
        mss = int(fixed["mss_bytes"])
        payload = mss - HEADER_BYTES
        memory = min(path.source.memory_bytes, path.destination.memory_bytes)
        buffers = buffer_range(
            path.rtt_s + _SYN_S, path.bandwidth_bps or options.seen_bps, int(memory * _MEMORY_SHARE)
        )
        least = _LEAST_PACKETS * mss
        return Space(
            parameters=(
                Parameter(
                    name="block_bytes",
                    unit="B",
                    lower=payload,
                    upper=_BLOCKS * payload,
                    quantum=payload,
                ),
                Parameter(
                    name="buffer_bytes",
                    unit="B",
                    lower=max(least, buffers.lower_bytes),
                    upper=max(4 * least, buffers.upper_bytes),
                    scale=options.buffer_scale or Scale.LINEAR,
                ),
            ),
            cost_order=("buffer_bytes", "block_bytes"),
            fixed=fixed,
            note=f"{buffers.reason}; packets of {mss} B",
        )

    def baselines(self, path: PathFacts) -> list[Baseline]:
        """None: no tool uses UDT by default."""
        return []

    def receive(self, order: ReceiveOrder, channel: Channel) -> None:
        """Listen for the one sender that has the token, and count the bytes it sends."""
        listener = _listener(order, channel)
        if listener is None:
            return
        with listener:
            channel.versions({"libudt": "4"})
            channel.ready(listener.local_address()[1])
            accepted = _accepted(listener, order)
        if accepted is None:
            channel.trouble(
                FailureKind.TIMED_OUT, "no UDT connection came: does a firewall block UDP?"
            )
            return
        with accepted:
            counter = Counter()
            granted = {"receive_buffer_bytes": accepted.get(Option.RCVBUF)}
            _sample(order.sample_every_s, lambda: channel.sample(counter.bytes, granted=granted))
            until = time.monotonic() + order.ceiling_s + 1
            receive_blocks(accepted, int(order.setting["block_bytes"]), counter, until=until)

    def send(self, order: SendOrder, channel: Channel) -> None:
        """Show the token, then send block after block until the ceiling."""
        repeat = _loadable(shared_library(REPEAT_SOURCE))
        with Socket(_family(order.address)) as sender:
            chosen = sender.configure(_options(order.setting, order.address))
            granted = {"send_buffer_bytes": chosen[Option.SNDBUF]}
            channel.versions({"libudt": "4"})
            try:
                if order.own_address:
                    sender.bind((order.own_address, 0))
                sender.connect((order.address, order.port))
                sender.send(order.token.encode())
            except UdtError as error:
                kind = FailureKind.REFUSED if error.code == _NO_ANSWER else FailureKind.RESET
                channel.trouble(kind, f"{error.text}: does a firewall block the agent's UDP ports?")
                return
            counter = Counter()
            _sample(order.sample_every_s, lambda: _report(sender, counter, channel, granted))
            until = time.monotonic() + order.ceiling_s + 1
            block = bytes(int(order.setting["block_bytes"]))
            send_blocks(sender, block, counter, until=until, repeat=repeat)


def _loadable(library: Path | None) -> Path | None:
    """None also for one that this host cannot load, as where its file system is mounted noexec."""
    try:
        return library if library and ctypes.CDLL(str(library)) else None
    except OSError:
        return None


def _listener(order: ReceiveOrder, channel: Channel) -> Socket | None:
    """A listening UDT socket on a port of the range, open to the source's address alone."""
    first, last = order.ports
    family = _family(order.source_address)
    # Answers must leave with the address that the source sent to.
    address = usable_address(order.own_address, order.source_address) or own_address_facing(
        order.source_address
    )
    for port in range(first, last + 1):
        udp = socket.socket(family, socket.SOCK_DGRAM)
        only_from(udp, order.source_address)
        try:
            udp.bind((address, port))
        except OSError:
            udp.close()
            continue
        listener = Socket(family)
        try:
            listener.configure(_options(order.setting, order.source_address))
            listener.bind_onto(udp)
            listener.listen()
        except UdtError as error:
            listener.close()
            udp.close()
            channel.trouble(FailureKind.REJECTED_SETTING, error.text)
            return None
        return listener
    channel.trouble(FailureKind.REFUSED, f"no UDP port from {first} to {last} is free on this host")
    return None


def _accepted(listener: Socket, order: ReceiveOrder) -> Socket | None:
    """The first connection that sends the token; others are closed. None when none does in time.

    One that comes from the right address and shows nothing does not keep the others waiting.
    """
    shown: queue.SimpleQueue[tuple[Socket, bool]] = queue.SimpleQueue()
    deadline_s, asked = time.monotonic() + _ACCEPT_S, 0
    while (left_s := deadline_s - time.monotonic()) > 0:
        with contextlib.suppress(queue.Empty):
            while True:
                connection, is_peer = shown.get_nowait()
                asked -= 1
                if is_peer:
                    return connection
                connection.close()
        try:
            connection, _ = listener.accept(min(left_s, _POLL_S))
        except TimeoutError:
            continue
        if asked == _AT_ONCE:
            connection.close()
            continue
        asked += 1
        threading.Thread(target=_ask, args=(connection, order, shown), daemon=True).start()
    return None


def _ask(
    connection: Socket, order: ReceiveOrder, shown: queue.SimpleQueue[tuple[Socket, bool]]
) -> None:
    shown.put((connection, _has_token(connection, order.token.encode(), _TOKEN_S)))


def _has_token(accepted: Socket, token: bytes, timeout_s: float) -> bool:
    shown = b""
    try:
        accepted.set(Option.RCVTIMEO, max(1, round(timeout_s * 1000)))
        while len(shown) < len(token):
            shown += accepted.recv(len(token) - len(shown))
    except UdtError:
        return False
    return shown == token


def _report(sender: Socket, counter: Counter, channel: Channel, granted: dict[str, int]) -> None:
    perf = sender.perf()
    channel.sample(
        counter.bytes,
        retransmits=max(0, perf.pkt_retrans_total),
        rtt_s=perf.ms_rtt / 1000,
        granted=granted,
    )


def _sample(every_s: float, report: Callable[[], None]) -> None:
    """Report now and at intervals, in a thread, until the connection ends."""

    def run() -> None:
        with contextlib.suppress(UdtClosed):
            repeat_every(every_s, report)

    threading.Thread(target=run, daemon=True).start()


plugin = Udt()
