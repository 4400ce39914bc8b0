"""Fast cards and what serves them, compared with the recommendations."""

from typing import Any

import msgspec
import pytest

from advisor.models.card_audit import Card, Hardware, Pause, Rings, audit_cards
from advisor.models.findings import Finding, Severity

CARD = Card(
    name="eth0",
    link_bps=100e9,
    numa_node=1,
    irq_cores=(frozenset({4}), frozenset({5})),
    rings=Rings(rx=8192, rx_most=8192, tx=8192, tx_most=8192),
    pause=Pause(rx=True, tx=True),
    offloads={"tso": True, "gro": True},
)
TUNED = Hardware(
    cards=(CARD,),
    node_cores={0: frozenset(range(4)), 1: frozenset(range(4, 8))},
    own_cores=frozenset({6, 7}),
    governors=frozenset({"performance"}),
    irqbalance=False,
    optmem_max_bytes=2**20,
)


def found(what: str, card: dict[str, Any] | None = None, **host: Any) -> Finding:
    cards = (msgspec.structs.replace(CARD, **(card or {})),)
    findings = audit_cards(msgspec.structs.replace(TUNED, cards=cards, **host))
    return next(one for one in findings if one.what == what)


def test_a_tuned_host_has_nothing_to_do() -> None:
    findings = audit_cards(TUNED)
    assert [one.what for one in findings] == [
        "CPU frequency governor",
        "net.core.optmem_max",
        "eth0 NUMA node",
        "eth0 interrupts",
        "eth0 rings",
        "eth0 pause frames",
        "eth0 offloads",
    ]
    assert all(
        one.severity is Severity.GOOD and not one.remedy and not one.cost for one in findings
    )


@pytest.mark.parametrize("link_bps", [None, 1e9, 10e9])
def test_cards_that_one_core_can_fill_are_not_judged(link_bps: float | None) -> None:
    slow = msgspec.structs.replace(CARD, link_bps=link_bps)
    assert audit_cards(msgspec.structs.replace(TUNED, cards=(slow,))) == []


def test_what_a_host_does_not_say_is_left_out() -> None:
    assert audit_cards(Hardware(cards=(Card(name="eth0", link_bps=100e9),))) == []


@pytest.mark.parametrize(
    ("what", "card", "host", "remedy"),
    [
        (
            "CPU frequency governor",
            {},
            {"governors": frozenset({"performance", "powersave"})},
            "cpupower frequency-set -g performance",
        ),
        (
            "net.core.optmem_max",
            {},
            {"optmem_max_bytes": 20480},
            "sysctl -w net.core.optmem_max=1048576",
        ),
        (
            "eth0 NUMA node",
            {},
            {"own_cores": frozenset(range(8))},
            "numactl --cpunodebind=1 --membind=1 before the command",
        ),
        (
            "eth0 interrupts",
            {"irq_cores": (frozenset({0}), frozenset({4}))},
            {},
            "systemctl stop irqbalance, then the vendor's set_irq_affinity_bynode.sh 1 eth0",
        ),
        (
            "eth0 interrupts",
            {"irq_cores": (frozenset({4}), frozenset({4}))},
            {},
            "systemctl start irqbalance, or bind each to a core of its own",
        ),
        (
            "eth0 rings",
            {"rings": Rings(rx=1024, rx_most=8192, tx=1024, tx_most=4096)},
            {},
            "ethtool -G eth0 rx 8192 tx 4096",
        ),
        (
            "eth0 pause frames",
            {"pause": Pause(rx=True, tx=False)},
            {},
            "ethtool -A eth0 rx on tx on",
        ),
        (
            "eth0 offloads",
            {"offloads": {"tso": False, "gso": True, "gro": False}},
            {},
            "ethtool -K eth0 tso on gro on",
        ),
    ],
)
def test_what_could_be_better_has_its_line_and_its_source(
    what: str, card: dict[str, Any], host: dict[str, Any], remedy: str
) -> None:
    one = found(what, card, **host)
    assert one.severity is Severity.WATCH
    assert one.cost
    assert one.remedy == remedy
    assert one.reference.startswith(("https://fasterdata.es.net/", "https://docs.kernel.org/"))


def test_irqbalance_that_runs_is_not_recommended_again() -> None:
    one = found("eth0 interrupts", {"irq_cores": (frozenset({4}),) * 2}, irqbalance=True)
    assert "irqbalance runs" in one.remedy


def test_a_host_of_one_node_has_no_wrong_node() -> None:
    one_node = {0: frozenset(range(8))}
    findings = audit_cards(msgspec.structs.replace(TUNED, node_cores=one_node))
    assert not any("NUMA" in one.what for one in findings)
    assert all(one.severity is Severity.GOOD for one in findings)


def test_rings_larger_than_the_recommendation_stay() -> None:
    rings = Rings(rx=8192, rx_most=16384, tx=8192, tx_most=16384)
    assert found("eth0 rings", {"rings": rings}).severity is Severity.GOOD
