from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.domain.measurement import EndLoad, Interval, Measurement
from advisor.domain.path import HostFacts, PathFacts
from advisor.models.host_tuning import RECOMMENDATIONS, larger, recommended, sysctl_line
from advisor.models.limits import binding_limits, full_loads, full_words, measured_limits

MIB = 2**20


def host(**changes: Any) -> HostFacts:
    """A host that limits nothing up to 10 Gbit/s at 100 ms."""
    facts: dict[str, Any] = {
        "hostname": "dtn",
        "kernel": "6.1",
        "cores": 16,
        "load_1min": 0.0,
        "memory_bytes": 64 * 2**30,
        "receive_max_bytes": 2147483647,
        "send_max_bytes": 2147483647,
        "tcp_rmem_bytes": (4096, 131072, 1073741824),
        "tcp_wmem_bytes": (4096, 16384, 1073741824),
        "congestion": "cubic",
        "congestion_available": ["cubic", "bbr"],
        "qdisc": "fq",
        "interface": "eth0",
        "link_bps": 10e9,
        "mtu_bytes": 9000,
        "clock_s": 0.0,
        "versions": {},
    }
    return HostFacts(**facts | changes)


def path(
    source: HostFacts | None = None, destination: HostFacts | None = None, **changes: Any
) -> PathFacts:
    facts: dict[str, Any] = {
        "source_address": "192.0.2.1",
        "destination_address": "192.0.2.2",
        "rtt_s": 0.0936,
        "rtt_method": "icmp",
        "mtu_bytes": 9000,
        "mtu_method": "echo",
        "bandwidth_bps": None,
        "source": source or host(),
        "destination": destination or host(),
    }
    return PathFacts(**facts | changes)


def measured(**changes: Any) -> Measurement:
    facts: dict[str, Any] = {
        "throughput_bps": 1e9,
        "stderr_bps": 1e6,
        "intervals": [Interval(0.0, 1.0, 125_000_000)],
        "steady_from": 0,
        "settled": True,
        "elapsed_s": 2.0,
    }
    return Measurement(**facts | changes)


def test_hosts_tuned_for_the_path_have_no_limits() -> None:
    assert binding_limits(path()) == []


def test_a_small_send_buffer_on_a_long_path() -> None:
    [limit] = binding_limits(path(host(send_max_bytes=4 * MIB)))
    assert limit.what == "4 MiB send buffer at most × 93.6 ms: one stream carries about 358 Mbit/s"
    assert limit.side == "source"
    assert limit.remedy == "sysctl -w net.core.wmem_max=67108864"
    assert limit.ceiling_bps == pytest.approx(358.5e6, rel=1e-3)


def test_a_small_receive_buffer() -> None:
    [limit] = binding_limits(path(destination=host(receive_max_bytes=212992)))
    assert limit.side == "destination"
    assert limit.remedy == "sysctl -w net.core.rmem_max=67108864"


def test_autotuning_has_maxima_of_its_own() -> None:
    limits = binding_limits(
        path(
            host(tcp_wmem_bytes=(4096, 16384, 4 * MIB)),
            host(tcp_rmem_bytes=(4096, 131072, 6 * MIB)),
        )
    )
    assert [limit.remedy for limit in limits] == [
        "sysctl -w net.ipv4.tcp_wmem='4096 65536 33554432'",
        "sysctl -w net.ipv4.tcp_rmem='4096 87380 33554432'",
    ]


def test_the_buffers_that_data_does_not_meet_are_no_limit() -> None:
    small = {"receive_max_bytes": 65536, "tcp_rmem_bytes": (4096, 65536, 65536)}
    assert binding_limits(path(host(**small))) == []


def test_the_tightest_comes_first() -> None:
    limits = binding_limits(
        path(host(send_max_bytes=4 * MIB, cores=1), host(receive_max_bytes=1 * MIB))
    )
    assert [limit.side for limit in limits] == ["destination", "source", "source"]
    assert limits[-1].ceiling_bps is None


def test_a_small_buffer_is_no_limit_on_a_lan() -> None:
    assert binding_limits(path(host(send_max_bytes=4 * MIB), rtt_s=0.0002)) == []


def test_nor_on_a_slow_link() -> None:
    slow = host(send_max_bytes=4 * MIB, link_bps=100e6)
    assert binding_limits(path(slow, host(link_bps=100e6))) == []


def test_without_a_capacity_ten_gigabit_is_the_measure() -> None:
    near, far = host(send_max_bytes=4 * MIB, link_bps=None), host(link_bps=None)
    assert binding_limits(path(near, far, rtt_s=0.003)) == []
    assert len(binding_limits(path(near, far, rtt_s=0.01))) == 1


def test_what_is_not_known_is_no_limit() -> None:
    unknown = host(
        receive_max_bytes=None,
        send_max_bytes=None,
        tcp_rmem_bytes=None,
        tcp_wmem_bytes=None,
        congestion=None,
        qdisc=None,
        interface=None,
        link_bps=None,
        mtu_bytes=None,
    )
    assert binding_limits(path(unknown, unknown)) == []


def test_loopback_is_left_alone() -> None:
    lo = host(interface="lo", send_max_bytes=4096, mtu_bytes=65536, qdisc="noqueue", cores=1)
    assert binding_limits(path(lo, lo, mtu_bytes=65535)) == []


def test_more_than_is_recommended_is_not_asked_for() -> None:
    limits = binding_limits(path(rtt_s=2.0))
    assert len(limits) == 4
    assert all("parallel streams" in limit.remedy for limit in limits)


def test_a_link_slower_than_the_reservation() -> None:
    [limit] = binding_limits(path(destination=host(link_bps=1e9), bandwidth_bps=10e9))
    assert (limit.side, limit.ceiling_bps) == ("destination", 1e9)
    assert "10 Gbit/s reserved" in limit.what


def test_standard_frames_on_a_fast_link() -> None:
    limits = binding_limits(path(host(mtu_bytes=1500), mtu_bytes=1500))
    assert [limit.remedy.split(",")[0] for limit in limits] == ["ip link set dev eth0 mtu 9000"]
    assert binding_limits(path(host(mtu_bytes=1500, link_bps=1e9), mtu_bytes=1500)) == []


def test_a_path_narrower_than_both_interfaces() -> None:
    [limit] = binding_limits(path(mtu_bytes=1500))
    assert limit.side is None
    assert "tcp_mtu_probing=1" in limit.remedy


@pytest.mark.parametrize(
    ("congestion", "qdisc", "count"),
    [("bbr", "pfifo_fast", 1), ("bbr", "fq", 0), ("bbr", "noqueue", 0), ("cubic", "pfifo_fast", 0)],
)
def test_bbr_wants_fq(congestion: str, qdisc: str, count: int) -> None:
    limits = binding_limits(path(host(congestion=congestion, qdisc=qdisc)))
    assert len(limits) == count
    assert all(limit.remedy == "tc qdisc replace dev eth0 root fq" for limit in limits)


@given(
    st.floats(1e-5, 1),
    st.none() | st.floats(1e6, 1e11),
    st.integers(4096, 2**31),
    st.integers(4096, 2**31),
)
def test_every_buffer_limit_binds_and_its_remedy_is_more(
    rtt_s: float, bandwidth_bps: float | None, send: int, receive: int
) -> None:
    ends = host(send_max_bytes=send, link_bps=None), host(receive_max_bytes=receive, link_bps=None)
    for limit in binding_limits(path(*ends, rtt_s=rtt_s, bandwidth_bps=bandwidth_bps)):
        assert limit.ceiling_bps is not None
        assert limit.ceiling_bps < (bandwidth_bps or 10e9)
        if limit.remedy.startswith("sysctl -w net.core"):
            now = send if limit.side == "source" else receive
            assert int(limit.remedy.rpartition("=")[2]) > now


def test_a_full_link() -> None:
    busy = EndLoad(process_cores=1.0, host_share=1.0)
    [limit] = measured_limits(
        measured(throughput_bps=9.4e9, retransmits=10**6, sender=busy), capacity_bps=10e9
    )
    assert limit.what == "the path is full: 9.40 Gbit/s of 10 Gbit/s (94%)"
    assert limit.side is None


def test_a_full_core_and_a_full_host() -> None:
    limits = measured_limits(
        measured(
            sender=EndLoad(process_cores=0.98, host_share=0.3),
            receiver=EndLoad(process_cores=0.98, host_share=0.95),
        ),
        capacity_bps=None,
    )
    assert [limit.side for limit in limits] == ["source", "destination"]
    assert "one thread filled its core (98%)" in limits[0].what
    assert "all cores were busy for 95%" in limits[1].what


def test_a_tool_of_several_threads_is_not_taken_for_a_full_core() -> None:
    assert measured_limits(measured(sender=EndLoad(process_cores=1.6, host_share=0.2)), None) == []


@pytest.mark.parametrize(("thread_cores", "count"), [(0.98, 1), (0.6, 0)])
def test_a_full_thread_beside_others(thread_cores: float, count: int) -> None:
    load = EndLoad(process_cores=1.9, host_share=0.2, thread_cores=thread_cores)
    limits = measured_limits(measured(receiver=load), None)
    assert len(limits) == count
    assert all("a thread of the tool filled its core (98%)" in limit.what for limit in limits)


def test_which_cores_were_full() -> None:
    thread = EndLoad(process_cores=1.0, host_share=0.2, thread_cores=0.97)
    host = EndLoad(process_cores=1.0, host_share=0.97, thread_cores=0.5)
    idle = EndLoad(process_cores=0.5, host_share=0.2, thread_cores=0.5)
    assert full_words(measured(sender=idle, receiver=idle)) == ""
    assert full_words(measured(sender=thread, receiver=host)) == (
        "a core of the source was full and all cores of the destination were full"
    )
    assert full_loads(measured(sender=idle, receiver=host)) == {"destination": host}


@pytest.mark.parametrize(("retransmits", "count"), [(None, 0), (0, 0), (5, 0), (100, 1)])
def test_loss(retransmits: int | None, count: int) -> None:
    assert len(measured_limits(measured(retransmits=retransmits), capacity_bps=10e9)) == count


def test_an_unhindered_probe_has_no_limits() -> None:
    idle = EndLoad(process_cores=0.4, host_share=0.2)
    assert measured_limits(measured(sender=idle, receiver=idle, retransmits=0), 10e9) == []


def test_the_recommendations_grow_and_say_their_source() -> None:
    for name in RECOMMENDATIONS[0].settings:
        sizes = [r.settings[name][-1] for r in RECOMMENDATIONS]
        assert sizes == sorted(sizes)
    assert all(r.source and r.as_of for r in RECOMMENDATIONS)


@pytest.mark.parametrize(
    ("rate_bps", "rtt_s", "expected"),
    [
        (1e9, 0.05, 67108864),
        (10e9, 0.15, 134217728),
        (40e9, 0.05, 134217728),
        (40e9, 0.1, 2147483647),
        (400e9, 0.3, 2147483647),
        # Twice 62.5 MB do not fit in 67 MB, the autotuned maximum of the smaller rows.
        (1e9, 0.5, 2147483647),
        (10e9, 0.201, 2147483647),
        # No row is for more than 200 ms, and a slow path needs no more for that.
        (1e9, 0.25, 134217728),
        (50e6, 0.6, 134217728),
        (10e6, 2.0, 134217728),
    ],
)
def test_the_recommendation_for_a_path(rate_bps: float, rtt_s: float, expected: int) -> None:
    assert recommended(rate_bps, rtt_s).settings["net.core.rmem_max"] == (expected,)


@given(st.floats(1e4, 1e12), st.floats(1e-5, 10), st.floats(1, 10))
def test_a_faster_or_longer_path_never_gets_less(
    rate_bps: float, rtt_s: float, more: float
) -> None:
    place = RECOMMENDATIONS.index(recommended(rate_bps, rtt_s))
    assert RECOMMENDATIONS.index(recommended(more * rate_bps, rtt_s)) >= place
    assert RECOMMENDATIONS.index(recommended(rate_bps, more * rtt_s)) >= place


def test_no_slow_satellite_path_is_told_to_use_the_buffers_of_a_fast_one() -> None:
    small = host(
        receive_max_bytes=212992,
        send_max_bytes=212992,
        tcp_rmem_bytes=(4096, 131072, 2**20),
        tcp_wmem_bytes=(4096, 16384, 2**20),
        link_bps=1e9,
    )
    found = binding_limits(path(small, small, rtt_s=2.0, bandwidth_bps=10e6))
    assert len(found) == 4
    for limit in found:
        sizes = limit.remedy.rpartition("=")[2].strip("'").split()
        assert int(sizes[-1]) <= 134217728


def test_the_next_larger_when_the_recommended_is_there_already() -> None:
    assert larger("net.core.wmem_max", 67108864, 10e9, 0.09) == (134217728,)
    assert larger("net.core.wmem_max", 2147483647, 10e9, 0.09) is None


def test_sysctl_lines() -> None:
    assert sysctl_line("net.core.rmem_max", 1) == "sysctl -w net.core.rmem_max=1"
    assert sysctl_line("net.ipv4.tcp_rmem", 1, 2, 3) == "sysctl -w net.ipv4.tcp_rmem='1 2 3'"
