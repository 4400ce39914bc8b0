from typing import Any

from advisor.models.findings import Finding, Severity
from advisor.models.host_audit import Settings, audit

MIB = 2**20


def settings(**changes: Any) -> Settings:
    """A host tuned for 10 Gbit/s."""
    values: dict[str, Any] = {
        "buffers": {
            "net.core.rmem_max": (64 * MIB,),
            "net.core.wmem_max": (64 * MIB,),
            "net.ipv4.tcp_rmem": (4096, 87380, 32 * MIB),
            "net.ipv4.tcp_wmem": (4096, 65536, 32 * MIB),
        },
        "congestion": "bbr",
        "default_qdisc": "fq",
        "mtu_probing": 1,
        "cores": 8,
        "links": {"eth0": (10e9, 9000)},
    }
    return Settings(**values | changes)


def finding(what: str, **changes: Any) -> Finding:
    return next(f for f in audit(settings(**changes)) if f.what == what)


def test_a_tuned_host_is_ok_and_has_nothing_to_do() -> None:
    found = audit(settings())
    assert len(found) == 9
    assert all(f.severity is Severity.GOOD and not f.remedy and not f.cost for f in found)


def test_buffers_are_judged_by_what_one_stream_needs() -> None:
    name = "net.core.rmem_max"
    small = finding(name, buffers={name: (4 * MIB,)})
    assert small.severity is Severity.BAD
    assert small.remedy == "sysctl -w net.core.rmem_max=67108864"
    assert "ESnet" in small.reference
    assert "10 Gbit/s over 10 ms needs 11.9 MiB" in small.cost
    assert finding(name, buffers={name: (16 * MIB,)}).severity is Severity.WATCH


def test_autotuning_is_judged_by_its_maximum() -> None:
    name = "net.ipv4.tcp_wmem"
    found = finding(name, buffers={name: (4096, 16384, 4 * MIB)})
    assert found.source == "up to 4 MiB"
    assert found.remedy == "sysctl -w net.ipv4.tcp_wmem='4096 65536 33554432'"


def test_the_fastest_card_decides_what_is_recommended() -> None:
    links = {"eth0": (1e9, 1500), "eth1": (100e9, 9000)}
    found = finding("net.core.rmem_max", links=links)
    assert found.severity is Severity.BAD
    assert found.remedy.endswith("=2147483647")
    assert settings(links={"eth0": (None, 1500)}).rate_bps == 10e9


def test_what_could_be_better() -> None:
    assert finding("net.ipv4.tcp_congestion_control", congestion="reno").remedy.endswith("=cubic")
    assert finding("net.core.default_qdisc", default_qdisc="pfifo_fast").remedy.endswith("=fq")
    assert finding("net.ipv4.tcp_mtu_probing", mtu_probing=0).remedy.endswith("=1")
    assert finding("eth0", links={"eth0": (10e9, 1500)}).remedy.startswith("ip link set dev eth0")
    assert finding("cores", cores=1).severity is Severity.WATCH


def test_mtu_probing_is_for_jumbo_frames() -> None:
    links = {"eth0": (1e9, 1500)}
    assert finding("net.ipv4.tcp_mtu_probing", mtu_probing=0, links=links).severity is Severity.GOOD


def test_what_the_host_does_not_say_is_left_out() -> None:
    found = audit(
        settings(buffers={}, congestion=None, default_qdisc=None, mtu_probing=None, links={})
    )
    assert [f.what for f in found] == ["cores"]
