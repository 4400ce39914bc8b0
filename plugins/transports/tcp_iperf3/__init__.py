"""TCP through libiperf: socket buffer × parallel streams, from memory to memory.

libiperf runs in this child process through the PyPI binding `iperf3`; where the binding lacks an
option, the libiperf function is called directly. The bytes and retransmissions are not taken from
libiperf's text but from the kernel's TCP_INFO of its sockets, which is exact at any moment; the
text is kept as the raw output. The pairing token is sent as iperf3's "extra data" and is checked
before anything is counted. Who else connects while a probe begins is disconnected (receiving.py).

Equation 11 bounds the buffer by the bandwidth-delay product. If no bandwidth was given, the best
throughput of the defaults is used instead. The scaling function λ of the buffer is linear, as in
the paper: it performed better than powers of two (docs/methods.md).
"""

import ctypes

from advisor.api.network import buffer_range, libiperf_version
from advisor.api.transport import Channel, ReceiveOrder, SendOrder, SpaceOptions, TransportTraits
from advisor.api.values import (
    AVAILABLE,
    Availability,
    Baseline,
    Parameter,
    PathFacts,
    Requirement,
    Scale,
    Setting,
    Space,
)

from .receiving import receive
from .sending import send


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
                remedy="apt-get install libiperf0",
            ),
        ),
    )

    def available(self) -> Availability:
        """Whether libiperf is installed."""
        try:
            ctypes.CDLL("libiperf.so.0")
        except OSError:
            return Availability("libiperf is not installed", "apt-get install libiperf0")
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
            Baseline("Globus default", {"streams": 16, "buffer_bytes": 0} | fixed),
        ]

    def receive(self, order: ReceiveOrder, channel: Channel) -> None:
        """An iperf3 server for one test."""
        receive(order, channel)

    def send(self, order: SendOrder, channel: Channel) -> None:
        """An iperf3 client that sends until it is stopped."""
        send(order, channel)


plugin = TcpIperf3()
