"""TCP through libiperf: socket buffer × parallel streams, from memory to memory.

libiperf runs in this child process through the PyPI binding `iperf3`; where the binding lacks an
option, the libiperf function is called directly. The bytes and retransmissions are not taken from
libiperf's text but from the kernel's TCP_INFO of its sockets, which is exact at any moment; the
text is kept as the raw output. The pairing token is sent as iperf3's "extra data" and is checked
before anything is counted. Who else connects while a probe begins is disconnected (receiving.py).

The kernel's own buffers (`buffer_bytes` 0, autotuning) are one more value of the buffer, as in the
flows of tuned hosts that Rao et al. (2016) profile. Where a program may ask for far less than
autotuning may use, that is the only value, and streams alone are searched.

Before version 3.16, all streams of a libiperf share one thread. Where that fills its core, they can
be spread over several processes, each a client and a server with its part of the streams.

Equation 11 bounds the buffer by the bandwidth-delay product. If no bandwidth was given, the best
throughput of the defaults is used instead. The scaling function λ of the buffer is linear, as in
the paper: it performed better than powers of two (docs/methods.md).
"""

import ctypes
import re
from typing import Final

from advisor.api.network import LIBIPERF, autotuning_alone, buffer_range, libiperf_version
from advisor.api.transport import Channel, ReceiveOrder, SendOrder, SpaceOptions, TransportTraits
from advisor.api.values import (
    AUTOMATIC,
    AVAILABLE,
    Availability,
    Baseline,
    Parameter,
    PathFacts,
    Requirement,
    Scale,
    Setting,
    Space,
    format_bytes,
    install_line,
)

from .receiving import receive
from .sending import send

_THREADS_FROM: Final = (3, 16)
_MOST_PROCESSES: Final = 8


class TcpIperf3:
    """The transport `tcp`."""

    name = "tcp"
    summary = "TCP, socket buffer × parallel streams, through libiperf"

    # Every tool supports TCP, its congestion control is fair to others, and UDT needs several times
    # the CPU for the same rate. TCP's space is larger: it takes more of the search time.
    traits = TransportTraits(
        label="TCP",
        cost_rank=0,
        budget_weight=3.0,
        mark="●",
        colour="blue",
        flow_parameter="streams",
        is_default=True,
        imported_from=("iperf3",),
        requirements=(
            Requirement(
                name="libiperf",
                purpose="profile TCP",
                find=libiperf_version,
                remedy=install_line("libiperf"),
            ),
        ),
    )

    def available(self) -> Availability:
        """Whether libiperf is installed."""
        try:
            ctypes.CDLL(LIBIPERF)
        except OSError:
            return Availability("libiperf is not installed", install_line("libiperf"))
        return AVAILABLE

    def variants(self, path: PathFacts, congestion: list[str]) -> list[Setting]:
        """One run per requested congestion control; by default only the source's own."""
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
        """θ_TCP = [w, p] of equation 7: the buffer by equation 11 or automatic, streams from 1."""
        granted, autotuned = _granted_bytes(path), _autotuned_bytes(path)
        bandwidth_bps = path.bandwidth_bps or options.seen_bps
        streams = Parameter(name="streams", unit="", lower=1, upper=options.max_streams)
        if autotuning_alone(path.rtt_s, bandwidth_bps, granted, autotuned):
            return Space(
                parameters=(streams,),
                cost_order=("streams",),
                fixed=fixed | {"buffer_bytes": AUTOMATIC},
                note=(
                    f"the kernel's own buffers, up to {format_bytes(autotuned or 0)}: a program "
                    f"may ask for {format_bytes(granted or 0)} at most"
                ),
            )
        buffers = buffer_range(path.rtt_s, bandwidth_bps, granted)
        return Space(
            parameters=(
                Parameter(
                    name="buffer_bytes",
                    unit="B",
                    lower=buffers.lower_bytes,
                    upper=buffers.upper_bytes,
                    scale=options.buffer_scale or Scale.LINEAR,
                    automatic=True,
                ),
                streams,
            ),
            cost_order=("streams", "buffer_bytes"),
            fixed=fixed,
            note=f"{buffers.reason}; or the kernel's own",
        )

    def baselines(self, path: PathFacts) -> list[Baseline]:
        """One stream with the kernel's buffers, and Globus's 2 × 8 for large files."""
        fixed: Setting = {"congestion": path.source.congestion} if path.source.congestion else {}
        return [
            Baseline("default", {"streams": 1, "buffer_bytes": 0} | fixed),
            Baseline("Globus default", {"streams": 16, "buffer_bytes": 0} | fixed),
        ]

    def most_processes(self, path: PathFacts) -> int:
        """As many as both hosts have cores, 8 at most; 1 where each stream has its own thread."""
        ends = (path.source, path.destination)
        versions = [host.versions.get("libiperf", "") for host in ends]
        if not all(versions) or all(_has_threads(version) for version in versions):
            return 1
        return max(1, min(_MOST_PROCESSES, *(host.cores for host in ends)))

    def receive(self, order: ReceiveOrder, channel: Channel) -> None:
        """An iperf3 server for one test."""
        receive(order, channel)

    def send(self, order: SendOrder, channel: Channel) -> None:
        """An iperf3 client that sends until it is stopped."""
        send(order, channel)


def _has_threads(version: str) -> bool:
    """Whether libiperf of this version runs a thread for each stream; unknown versions do."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is None or (int(found[1]), int(found[2])) >= _THREADS_FROM


def _granted_bytes(path: PathFacts) -> int | None:
    """The largest buffer that both hosts grant to a program; None where it is not known."""
    maxima = (path.source.send_max_bytes, path.destination.receive_max_bytes)
    return min((size for size in maxima if size), default=None)


def _autotuned_bytes(path: PathFacts) -> int | None:
    """The most that both kernels use by themselves; None where it is not known."""
    ranges = (path.source.tcp_wmem_bytes, path.destination.tcp_rmem_bytes)
    return min((known[2] for known in ranges if known), default=None)


plugin = TcpIperf3()
