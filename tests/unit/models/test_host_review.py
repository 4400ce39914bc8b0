from typing import Any

import pytest

from advisor.models.findings import Finding, Severity
from advisor.models.host_review import UNKNOWN, review
from advisor.testing.samples import a_host, a_path

MIB = 2**20
WMEM, RMEM = "net.core.wmem_max", "net.core.rmem_max"
TCP_WMEM, TCP_RMEM = "net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"


def row(what: str, **changes: Any) -> Finding:
    (found,) = (f for f in review(a_path(**changes)) if f.what.startswith(what))
    return found


def test_every_row_is_there_in_order() -> None:
    assert [f.what for f in review(a_path())] == [
        "RTT",
        "MTU (path 9000)",
        "link",
        RMEM,
        WMEM,
        TCP_RMEM,
        TCP_WMEM,
        "congestion control",
        "queueing",
        "cores",
        "clock offset",
    ]


def test_the_bytes_under_way() -> None:
    # 10^10 bit/s × 0.0936 s ÷ 8 = 117,000,000 B = 111.58 MiB
    found = row("RTT", rtt_s=0.0936)
    assert found.cost == "10 Gbit/s × 93.6 ms: 112 MiB must be in flight to fill the path"


def test_a_small_send_buffer_by_hand() -> None:
    # 4,194,304 B × 8 ÷ 0.0936 s = 358.49 Mbit/s
    found = row(WMEM, rtt_s=0.0936, source=a_host(send_max_bytes=4 * MIB))
    assert found.severity is Severity.BAD
    assert (found.source, found.destination) == ("4 MiB", "64 MiB")
    assert found.cost.endswith(
        "4 MiB send buffer at most × 93.6 ms: one stream carries about 358 Mbit/s"
    )
    assert [(r.side, r.line) for r in found.remedies] == [
        ("source", "sysctl -w net.core.wmem_max=67108864")
    ]
    assert found.recommended == "64 MiB"
    assert "ESnet" in found.reference
    assert "2026" in found.reference


def test_a_buffer_is_judged_where_the_data_meets_it() -> None:
    small = a_host(send_max_bytes=4096, tcp_wmem_bytes=(4096, 4096, 4096))
    rtt_s = 0.001
    assert row(WMEM, destination=small, rtt_s=rtt_s).severity is Severity.GOOD
    assert row(WMEM, source=small, rtt_s=rtt_s).severity is Severity.BAD
    assert row(TCP_WMEM, source=small, rtt_s=rtt_s).severity is Severity.BAD
    deaf = a_host(tcp_rmem_bytes=(4096, 65536, 65536))
    assert row(TCP_RMEM, source=deaf, rtt_s=rtt_s).severity is Severity.GOOD
    assert row(TCP_RMEM, destination=deaf, rtt_s=rtt_s).remedies[0].side == "destination"


@pytest.mark.parametrize(
    ("maximum_bytes", "expected"),
    # 10^9 bit/s × 0.08 s ÷ 8 = 10,000,000 B
    [
        (9_999_999, Severity.BAD),
        (10_000_000, Severity.WATCH),
        (19_999_999, Severity.WATCH),
        (20_000_000, Severity.GOOD),
        (None, Severity.UNKNOWN),
    ],
)
def test_enough_just_enough_and_too_little(maximum_bytes: int | None, expected: Severity) -> None:
    host = a_host(receive_max_bytes=maximum_bytes)
    found = row(RMEM, rtt_s=0.08, bandwidth_bps=1e9, destination=host)
    assert found.severity is expected
    assert bool(found.cost) == bool(found.remedies) == (expected in (Severity.BAD, Severity.WATCH))


def test_what_just_suffices_says_what_the_kernel_keeps() -> None:
    # 10 MiB × 8 ÷ 0.08 s = 1048.576 Mbit/s
    host = a_host(receive_max_bytes=10 * MIB)
    found = row(RMEM, rtt_s=0.08, bandwidth_bps=1e9, destination=host)
    assert found.cost.startswith("10 MiB × 80 ms is 1.05 Gbit/s")
    assert found.remedies[0].line == "sysctl -w net.core.rmem_max=67108864"


def test_standard_frames_on_both_ends_need_a_line_each() -> None:
    host = a_host(mtu_bytes=1500)
    found = row("MTU", source=host, destination=host, mtu_bytes=1500)
    assert found.severity is Severity.WATCH
    assert found.recommended == "9000"
    assert found.cost.count("six times") == 1
    assert [r.side for r in found.remedies] == ["source", "destination"]
    slow = a_host(mtu_bytes=1500, link_bps=1e9)
    near = row("MTU", source=slow, destination=slow, mtu_bytes=1500, bandwidth_bps=None)
    assert (near.severity, near.recommended) == (Severity.GOOD, "")


def test_a_link_below_the_reservation() -> None:
    found = row("link", destination=a_host(link_bps=1e9))
    assert (found.source, found.destination) == ("10 Gbit/s", "1 Gbit/s")
    assert found.severity is Severity.BAD
    assert row("link", destination=a_host(link_bps=None)).destination == UNKNOWN
    assert row("link", destination=a_host(link_bps=None)).severity is Severity.UNKNOWN


def test_reno_costs_minutes_by_hand() -> None:
    # 10^10 × 0.1 ÷ 8 ÷ (9000 − 52) = 13969.6 segments; half of them, one each 0.1 s: 698.5 s
    found = row("congestion control", source=a_host(congestion="reno"), rtt_s=0.1)
    assert found.severity is Severity.WATCH
    assert "11 min 38 s to return to 10 Gbit/s" in found.cost
    assert found.remedies[0].line == "sysctl -w net.ipv4.tcp_congestion_control=cubic"
    assert (
        row("congestion control", destination=a_host(congestion="reno")).severity is Severity.GOOD
    )


@pytest.mark.parametrize(
    ("congestion", "qdisc", "expected"),
    [
        ("bbr", "pfifo_fast", Severity.WATCH),
        ("bbr", "fq", Severity.GOOD),
        ("cubic", "fq_codel", Severity.GOOD),
        ("cubic", None, Severity.UNKNOWN),
    ],
)
def test_queueing(congestion: str, qdisc: str | None, expected: Severity) -> None:
    found = row("queueing", source=a_host(congestion=congestion, qdisc=qdisc))
    assert found.severity is expected
    assert bool(found.remedies) == (expected is Severity.WATCH)


def test_a_busy_host() -> None:
    found = row("cores", destination=a_host(cores=8, load_1min=6.0))
    assert found.destination == "8, load 6.0"
    assert found.severity is Severity.WATCH
    assert "75% of the 8 cores" in found.cost
    assert found.remedies[0].side == "destination"
    assert row("cores").severity is Severity.GOOD
    assert row("cores", source=a_host(cores=1)).severity is Severity.WATCH


@pytest.mark.parametrize(
    ("offset_s", "text", "expected"),
    [
        (None, UNKNOWN, Severity.UNKNOWN),
        (0.004, "+4 ms", Severity.GOOD),
        (-20.0, "-20 s", Severity.WATCH),
        (301.0, "+5 min 1 s", Severity.BAD),
    ],
)
def test_clocks(offset_s: float | None, text: str, expected: Severity) -> None:
    found = row("clock offset", clock_offset_s=offset_s)
    assert (found.destination, found.severity) == (text, expected)


def test_nothing_of_loopback_is_bad() -> None:
    host = a_host(interface="lo", send_max_bytes=4096, receive_max_bytes=4096, mtu_bytes=1500)
    found = review(a_path(source=host, destination=host, mtu_bytes=1500))
    assert not [f for f in found if f.severity in (Severity.BAD, Severity.WATCH)]
