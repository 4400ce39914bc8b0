"""TCP through libiperf: socket buffer × parallel streams, from memory to memory.

libiperf runs in this child process through the PyPI binding `iperf3`; where the binding lacks a
knob, the libiperf call under it is used. The bytes and retransmissions are not taken from
libiperf's text but from the kernel's own TCP_INFO of its sockets, exact and at any moment; the
text is kept as the raw output. The pairing token travels as iperf3's "extra data" and is checked
before anything is counted; the kernel lets only the peer's address reach the listening socket.

Equation 11 bounds the buffer by the bandwidth-delay product. Where no bandwidth was given, the
best throughput of the defaults stands for it. The scaling function λ of the buffer is linear, as
the paper's: it measured better than powers of two (docs/methods.md).
"""

import contextlib
import ctypes
import math
import os
import socket
import threading
import time
from typing import Final

import iperf3

from advisor.api.network import (
    TcpSockets,
    borrowed,
    buffer_range,
    comes_from,
    libiperf_version,
    listening_fd,
    only_from,
    repeat_every,
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
)

_PORT_TRIES: Final = 20
_LISTEN_S: Final = 5.0
# iperf3's cookie at the head of each stream, and the SYN, which the kernel counts as a byte.
_COOKIE_BYTES: Final = 38
# What libiperf says, and what that means for the probe.
_MEANINGS: Final = (
    ("connection refused", FailureKind.REFUSED),
    ("busy", FailureKind.BUSY),
    ("buffer size", FailureKind.REJECTED_SETTING),
    ("congestion", FailureKind.REJECTED_SETTING),
    ("timed out", FailureKind.TIMED_OUT),
    ("unreachable", FailureKind.REFUSED),
    ("no route", FailureKind.REFUSED),
    ("reset", FailureKind.RESET),
    ("closed unexpectedly", FailureKind.PEER_GONE),
    ("has terminated", FailureKind.PEER_GONE),
)


class _Library:
    """The libiperf calls the binding does not have, on one of its test objects."""

    def __init__(self, role: iperf3.IPerf3) -> None:
        self._lib = role.lib
        # The binding keeps the pointer as a plain number, which ctypes would cut to 32 bits.
        self._test = ctypes.c_void_p(role._test)
        self._lib.iperf_get_test_extra_data.restype = ctypes.c_char_p
        self._lib.iperf_strerror.restype = ctypes.c_char_p
        self._lib.iperf_get_iperf_version.restype = ctypes.c_char_p

    def set_int(self, knob: str, value: int) -> None:
        getattr(self._lib, f"iperf_set_test_{knob}")(self._test, ctypes.c_int(value))

    def set_text(self, knob: str, value: str) -> None:
        getattr(self._lib, f"iperf_set_test_{knob}")(self._test, ctypes.c_char_p(value.encode()))

    def set_interval(self, seconds: float) -> None:
        for knob in ("stats", "reporter"):
            setter = getattr(self._lib, f"iperf_set_test_{knob}_interval")
            setter(self._test, ctypes.c_double(seconds))

    def token(self) -> str | None:
        found: bytes | None = self._lib.iperf_get_test_extra_data(self._test)
        return found.decode(errors="replace") if found is not None else None

    def control_descriptor(self) -> int:
        return int(self._lib.iperf_get_control_socket(self._test))

    def run(self, end: str) -> str:
        """Run as client or server; "" or what went wrong."""
        if getattr(self._lib, f"iperf_run_{end}")(self._test) >= 0:
            return ""
        number = ctypes.c_int.in_dll(self._lib, "i_errno").value
        return str(self._lib.iperf_strerror(number).decode(errors="replace"))

    @property
    def version(self) -> str:
        return str(self._lib.iperf_get_iperf_version().decode())


class _Sampler(threading.Thread):
    """Reports the kernel's figures of the data connections while libiperf blocks its thread.

    It begins when data flows on all streams: libiperf connects them one after the other, a round
    trip each, and until the last is there only their cookies have crossed.
    """

    def __init__(
        self, library: _Library, channel: Channel, every_s: float, streams: int, receiving: bool
    ) -> None:
        super().__init__(daemon=True)
        self._before_data_bytes = streams * _COOKIE_BYTES
        self._library = library
        self._channel = channel
        self._every_s = every_s
        self._receiving = receiving
        self._sockets = TcpSockets()

    def run(self) -> None:
        repeat_every(self._every_s, self._report)

    def _report(self) -> None:
        self._sockets.exclude(self._library.control_descriptor())
        totals = self._sockets.totals()
        moved_bytes = totals.received_bytes if self._receiving else totals.acked_bytes
        if moved_bytes <= self._before_data_bytes:
            return
        side, size = (
            ("receive_buffer_bytes", totals.receive_buffer_bytes)
            if self._receiving
            else ("send_buffer_bytes", totals.send_buffer_bytes)
        )
        self._channel.sample(
            moved_bytes,
            retransmits=None if self._receiving else totals.retransmits,
            rtt_s=totals.rtt_s,
            arrived_bytes=totals.arrived_bytes or None,
            granted={side: size} if size is not None else {},
        )


def _free_port(ports: tuple[int, int], attempt: int) -> int | None:
    """A port of the range nobody listens on; None when there is none (any more)."""
    first, last = ports
    candidates = range(first, last + 1) if first else range(1)
    for port in list(candidates)[attempt:]:
        with socket.socket(socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("", port))
            except OSError:
                continue
            return int(trial.getsockname()[1])
    return None


class TcpIperf3:
    """The transport `tcp`."""

    name = "tcp"
    summary = "TCP, socket buffer × parallel streams, through libiperf"

    # Every tool has TCP, its congestion control is fair to others, and UDT takes several times the
    # CPU for the same rate. Its space is the larger: it takes more of the search time.
    traits = TransportTraits(
        label="TCP",
        cost_rank=0,
        budget_weight=3.0,
        mark="●",
        colour="primary",
        flow_parameter="streams",
        is_default=True,
        imported_from=("iperf3",),
        requirements=(
            Requirement(
                name="libiperf",
                purpose="profile TCP",
                find=libiperf_version,
                remedy="apt-get install libiperf0",
            ),
        ),
    )

    def available(self) -> Availability:
        """Whether libiperf is there."""
        try:
            ctypes.CDLL("libiperf.so.0")
        except OSError:
            return Availability("libiperf is not installed", "apt-get install libiperf0")
        return AVAILABLE

    def variants(self, path: PathFacts, congestion: list[str]) -> list[Setting]:
        """One run per wanted congestion control; without a wish, the source's own."""
        if not congestion:
            return [{"congestion": path.source.congestion}] if path.source.congestion else [{}]
        both = set(path.source.congestion_available) & set(path.destination.congestion_available)
        for wanted in congestion:
            if wanted not in both:
                offered = ", ".join(sorted(both)) or "none"
                raise ValueError(
                    f"congestion control '{wanted}' is not available on both ends "
                    f"(both have: {offered}); modprobe tcp_{wanted} may add it"
                )
        return [{"congestion": wanted} for wanted in congestion]

    def space(self, path: PathFacts, fixed: Setting, options: SpaceOptions) -> Space:
        """θ_TCP = [w, p] of equation 7: the buffer by equation 11, streams from 1."""
        maxima = (path.source.send_max_bytes, path.destination.receive_max_bytes)
        granted = min((size for size in maxima if size), default=None)
        buffers = buffer_range(path.rtt_s, path.bandwidth_bps or options.seen_bps, granted)
        return Space(
            parameters=(
                Parameter(
                    name="buffer_bytes",
                    unit="B",
                    lower=buffers.lower_bytes,
                    upper=buffers.upper_bytes,
                    scale=options.buffer_scale or Scale.LINEAR,
                ),
                Parameter(name="streams", unit="", lower=1, upper=options.max_streams),
            ),
            cost_order=("streams", "buffer_bytes"),
            fixed=fixed,
            note=buffers.reason,
        )

    def baselines(self, path: PathFacts) -> list[Baseline]:
        """One stream with the kernel's buffers, and Globus's 2 × 8 for large files."""
        fixed: Setting = {"congestion": path.source.congestion} if path.source.congestion else {}
        return [
            Baseline("default", {"streams": 1, "buffer_bytes": 0} | fixed),
            Baseline("globus default", {"streams": 16, "buffer_bytes": 0} | fixed),
        ]

    def receive(self, order: ReceiveOrder, channel: Channel) -> None:
        """An iperf3 server for one test."""
        for attempt in range(_PORT_TRIES):
            port = _free_port(order.ports, attempt)
            if port is None:
                break
            trouble = self._serve(port, order, channel)
            if "in use" not in trouble:
                if trouble:
                    channel.trouble(_kind(trouble), trouble)
                return
        first, last = order.ports
        channel.trouble(FailureKind.REFUSED, f"no port of {first} to {last} is free on this host")

    def _serve(self, port: int, order: ReceiveOrder, channel: Channel) -> str:
        server = iperf3.Server()
        server.json_output = False
        library = _Library(server)
        library.set_int("one_off", 1)
        library.set_int("server_port", port)
        library.set_interval(0.5)
        guard = threading.Thread(target=_admit, args=(library, port, order, channel), daemon=True)
        guard.start()
        return library.run("server")

    def send(self, order: SendOrder, channel: Channel) -> None:
        """An iperf3 client that sends until it is stopped."""
        client = iperf3.Client()
        client.json_output = False
        client.server_hostname = order.address
        client.port = order.port
        client.duration = math.ceil(order.ceiling_s) + 5
        client.num_streams = int(order.setting.get("streams", 1))
        library = _Library(client)
        library.set_text("extra_data", order.token)
        library.set_int("connect_timeout", round(order.connect_timeout_s * 1000))
        library.set_interval(0.5)
        if buffer_bytes := int(order.setting.get("buffer_bytes", 0)):
            library.set_int("socket_bufsize", buffer_bytes)
        if congestion := order.setting.get("congestion"):
            library.set_text("congestion_control", str(congestion))
        channel.versions({"libiperf": library.version})
        streams = int(order.setting.get("streams", 1))
        _Sampler(library, channel, order.sample_every_s, streams, receiving=False).start()
        if trouble := library.run("client"):
            kind = _kind(trouble)
            if kind in (FailureKind.REFUSED, FailureKind.TIMED_OUT):
                trouble += ": are the agent's TCP ports let through?"
            channel.trouble(kind, trouble)


def _admit(library: _Library, port: int, order: ReceiveOrder, channel: Channel) -> None:
    """Say when the server listens, let only the peer in, and count once its token is shown."""
    deadline_s = time.monotonic() + _LISTEN_S
    while (descriptor := listening_fd(port)) is None:
        if time.monotonic() > deadline_s:
            return  # libiperf's own error, which the main thread has, says why.
        time.sleep(0.005)
    # A kernel may keep filters on TCP to the administrator; the peer is then looked at below.
    with borrowed(descriptor) as listener, contextlib.suppress(PermissionError):
        only_from(listener, order.source_address)
    channel.versions({"libiperf": library.version})
    channel.ready(port)
    while (token := library.token()) is None:
        time.sleep(0.005)
    with borrowed(library.control_descriptor()) as control:
        expected = comes_from(control, order.source_address)
    if token != order.token or not expected:
        channel.trouble(FailureKind.REFUSED, "somebody else connected to this probe's port")
        os._exit(0)
    streams = int(order.setting.get("streams", 1))
    _Sampler(library, channel, order.sample_every_s, streams, receiving=True).run()


def _kind(trouble: str) -> FailureKind:
    lowered = trouble.lower()
    found = (kind for words, kind in _MEANINGS if words in lowered)
    return next(found, FailureKind.CRASHED)


plugin = TcpIperf3()
