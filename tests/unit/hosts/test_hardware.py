"""What /sys and /proc say about cards, on trees made up like those of other hosts."""

from pathlib import Path

import pytest

from advisor.hosts import ethtool
from advisor.hosts.hardware import hardware
from advisor.hosts.interfaces import Interface
from advisor.models.card_audit import Hardware

CARD = Interface(name="made0", mtu_bytes=9000, link_bps=100e9, qdisc="mq")
FILES = {
    "sys/devices/pci0/0000:41:00.0/numa_node": "1\n",
    "sys/devices/pci0/0000:41:00.0/msi_irqs/101": "msix\n",
    "sys/devices/pci0/0000:41:00.0/msi_irqs/102": "msix\n",
    "proc/irq/101/effective_affinity_list": "8\n",
    "proc/irq/101/smp_affinity_list": "0-15\n",
    "proc/irq/102/smp_affinity_list": "9-10,12\n",
    "sys/devices/system/node/node0/cpulist": "0-7\n",
    "sys/devices/system/node/node1/cpulist": "8-15\n",
    "sys/devices/system/node/node2/cpulist": "\n",  # Memory alone.
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
}


def host(root: Path, files: dict[str, str | bytes], device: str = "0000:41:00.0") -> Hardware:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    there = root / "sys/class/net/made0"
    there.mkdir(parents=True)
    (there / "device").symlink_to(root / "sys/devices/pci0" / device)
    return hardware([CARD], root)


def test_a_host_of_two_nodes(tmp_path: Path) -> None:
    found = host(tmp_path, dict(FILES))
    [card] = found.cards
    assert (card.name, card.link_bps, card.numa_node) == ("made0", 100e9, 1)
    # What the kernel chose counts, where it says.
    assert card.irq_cores == (frozenset({8}), frozenset({9, 10, 12}))
    assert found.node_cores == {0: frozenset(range(8)), 1: frozenset(range(8, 16))}
    assert found.governors == {"powersave", "performance"}


def test_the_interrupts_of_a_virtio_card_are_those_of_the_device_above(tmp_path: Path) -> None:
    files = dict(FILES) | {"sys/devices/pci0/0000:41:00.0/virtio3/vendor": "0x1af4\n"}
    [card] = host(tmp_path, files, "0000:41:00.0/virtio3").cards
    assert len(card.irq_cores) == 2
    assert card.numa_node is None


def test_what_is_missing_is_left_out(tmp_path: Path) -> None:
    found = host(tmp_path, {})
    [card] = found.cards
    assert card.numa_node is None
    assert card.irq_cores == ()
    assert (found.node_cores, found.governors) == ({}, frozenset())
    assert (card.rings, card.pause, card.offloads) == (None, None, {})


@pytest.mark.parametrize(
    "content",
    ["-1\n", "", "1\x1b[2J", "0-99999999999", "9" * 100, b"\xff\xfe", "0-3-5", "a,b", "1,,2"],
)
def test_what_the_kernel_does_not_write_is_left_out(tmp_path: Path, content: str | bytes) -> None:
    found = host(
        tmp_path,
        {
            "sys/devices/pci0/0000:41:00.0/numa_node": content,
            "sys/devices/pci0/0000:41:00.0/msi_irqs/101": "msix\n",
            "proc/irq/101/effective_affinity_list": content,
            "sys/devices/system/node/node0/cpulist": content,
        },
    )
    assert found.cards[0].numa_node is None
    assert found.cards[0].irq_cores == ()
    assert found.node_cores == {}


def test_a_governor_is_a_name(tmp_path: Path) -> None:
    file = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    assert host(tmp_path, {file: "per\x1bformance"}).governors == frozenset()


def test_the_driver_is_asked_for_offloads() -> None:
    # Loopback has them since it has packets of 64 KiB, and has neither rings nor flow control.
    assert ethtool.offloads("lo").keys() >= {"tso", "gso", "gro"}
    assert ethtool.rings("lo") is None
    assert ethtool.pause("lo") is None


@pytest.mark.parametrize("name", ["no-such-card", "x" * 64])
def test_a_card_that_is_not_there_says_nothing(name: str) -> None:
    assert ethtool.offloads(name) == {}
    assert ethtool.rings(name) is None
