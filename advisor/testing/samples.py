"""Plausible facts and outcomes for testing plugins."""

from typing import Any

import msgspec

from advisor.domain.advice import Advice
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.space import Parameter, Scale, Space

_HOST = HostFacts(
    hostname="dtn",
    kernel="6.1",
    cores=8,
    load_1min=0.1,
    memory_bytes=64 * 2**30,
    receive_max_bytes=64 * 2**20,
    send_max_bytes=64 * 2**20,
    tcp_rmem_bytes=(4096, 131072, 32 * 2**20),
    tcp_wmem_bytes=(4096, 16384, 32 * 2**20),
    congestion="cubic",
    congestion_available=["cubic", "bbr"],
    qdisc="fq",
    interface="eth0",
    link_bps=10e9,
    mtu_bytes=9000,
    clock_s=1.7e9,
    versions={},
)


def a_host(**changes: Any) -> HostFacts:
    """A data transfer node with a 10 Gbit/s interface."""
    return msgspec.structs.replace(_HOST, **changes)


def a_path(**changes: Any) -> PathFacts:
    """10 Gbit/s over 45.6 ms with jumbo frames."""
    path = PathFacts(
        source_address="192.0.2.1",
        destination_address="192.0.2.2",
        rtt_s=0.0456,
        rtt_method="icmp",
        mtu_bytes=9000,
        mtu_method="echoed packets",
        bandwidth_bps=10e9,
        source=_HOST,
        destination=_HOST,
    )
    return msgspec.structs.replace(path, **changes)


def an_advice(pair: Pair, **changes: Any) -> Advice:
    """4 streams over TCP and 1 Gbit/s to be expected, with nothing to compare with."""
    advice = Advice(
        pair=pair,
        subject="tcp",
        setting={"streams": 4, "buffer_bytes": 4194304},
        expected_bps=1e9,
        interval_bps=(0.9e9, 1.1e9),
        default_bps=None,
        gain=None,
        limits=[],
        reasons=[],
        commands=[],
        contenders=[],
        incomplete=False,
        session="feed",
    )
    return msgspec.structs.replace(advice, **changes)


def a_space() -> Space:
    """Two parameters, streams linear and buffers on a log scale."""
    return Space(
        parameters=(
            Parameter(name="buffer_bytes", unit="B", lower=2**16, upper=2**26, scale=Scale.LOG2),
            Parameter(name="streams", unit="", lower=1, upper=25),
        ),
        cost_order=("streams", "buffer_bytes"),
    )


def measured(throughput_bps: float) -> Measurement:
    """A probe with this rate."""
    return Measurement(
        throughput_bps=throughput_bps,
        stderr_bps=throughput_bps / 100,
        intervals=[],
        steady_from=0,
        settled=True,
        elapsed_s=1.0,
    )


def failed(kind: FailureKind = FailureKind.TIMED_OUT) -> Failure:
    """A failed probe."""
    return Failure(kind=kind, message="nothing came", elapsed_s=1.0)


def a_transfer_space() -> Space:
    """What the papers tune: concurrency, parallelism and pipelining, each 1 to 32 by doublings."""
    names = ("concurrency", "parallelism", "pipelining")
    return Space(
        parameters=tuple(
            Parameter(name=name, unit="", lower=1, upper=32, scale=Scale.LOG2) for name in names
        ),
        cost_order=names,
    )


def odd_spaces() -> dict[str, Space]:
    """Spaces of a point, of one dimension, with autotuning, limited flows, and of five kinds."""
    streams = Parameter(name="streams", unit="", lower=1, upper=25)
    block = Parameter(name="block_bytes", unit="B", lower=1456, upper=14560, quantum=1456)
    concurrency = Parameter(name="concurrency", unit="", lower=2, upper=40, scale=Scale.LOG2)
    window = Parameter(name="window_bytes", unit="B", lower=1000, upper=10**6)
    stripes = Parameter(name="stripes", unit="", lower=2, upper=4, quantum=2)
    still = Parameter(name="streams", unit="", lower=4, upper=4)
    buffer = Parameter(name="buffer_bytes", unit="B", lower=2**14, upper=2**22, automatic=True)
    five = (block, concurrency, streams, window, stripes)
    return {
        "a single point": Space(parameters=(still,), cost_order=("streams",)),
        "buffers or the kernel's own": Space(
            parameters=(buffer, streams), cost_order=("streams", "buffer_bytes")
        ),
        "limited flows": Space(
            parameters=(
                Parameter(name="concurrency", unit="", lower=1, upper=32),
                Parameter(name="parallelism", unit="", lower=1, upper=16),
            ),
            cost_order=("concurrency", "parallelism"),
            most_flows=48,
        ),
        "one dimension": Space(parameters=(streams,), cost_order=("streams",)),
        "five dimensions": Space(
            parameters=five, cost_order=("streams", "concurrency"), fixed={"congestion": "cubic"}
        ),
    }
