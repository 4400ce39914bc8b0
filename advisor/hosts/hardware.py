"""The network cards of this host and what serves them: NUMA nodes, interrupts, core clocks.

Read from /sys and /proc. What is missing there, or is not what the kernel documents, is left out.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from advisor.domain.printable import SystemName, fitting
from advisor.hosts import ethtool
from advisor.hosts.interfaces import Interface
from advisor.hosts.sysctl import sysctl_number
from advisor.models.card_audit import OPTMEM_MAX, Card, Hardware

_MOST_CORES: Final = 8192
_MOST_INTERRUPTS: Final = 4096
_LONGEST: Final = 64 * 1024
_IRQBALANCE: Final = "irqbalance"


def hardware(cards: Sequence[Interface], root: Path = Path("/")) -> Hardware:
    """What serves these cards. `root`: where `sys` and `proc` are."""
    return Hardware(
        cards=tuple(_card(one, root) for one in cards),
        node_cores=_node_cores(root / "sys/devices/system/node"),
        own_cores=frozenset(os.sched_getaffinity(0)),
        governors=_governors(root / "sys/devices/system/cpu"),
        irqbalance=_runs(_IRQBALANCE),
        optmem_max_bytes=sysctl_number(OPTMEM_MAX),
    )


def _card(interface: Interface, root: Path) -> Card:
    device = root / "sys/class/net" / interface.name / "device"
    node = _text(device / "numa_node")
    return Card(
        name=interface.name,
        link_bps=interface.link_bps,
        # −1 where the platform does not say.
        numa_node=int(node) if node.isdecimal() and len(node) < 5 else None,
        irq_cores=tuple(_irq_cores(device, root / "proc/irq")),
        rings=ethtool.rings(interface.name),
        pause=ethtool.pause(interface.name),
        offloads=ethtool.offloads(interface.name),
    )


def _irq_cores(device: Path, interrupts: Path) -> list[frozenset[int]]:
    """The cores that serve each interrupt of a card."""
    found = []
    for number in _interrupts_of(device):
        # The first is what the kernel chose among those that the second allows.
        names = ("effective_affinity_list", "smp_affinity_list")
        lists = [_cores(_text(interrupts / number / name)) for name in names]
        if cores := next((cores for cores in lists if cores), None):
            found.append(cores)
    return found


def _interrupts_of(device: Path) -> list[str]:
    """The numbers of a card's interrupts; those of a virtio card belong to the device above it."""
    with contextlib.suppress(OSError, RuntimeError):
        real = device.resolve(strict=True)
        for folder in (real / "msi_irqs", real.parent / "msi_irqs"):
            if folder.is_dir():
                names = sorted(one.name for one in folder.iterdir() if one.name.isdecimal())
                return names[:_MOST_INTERRUPTS]
    return []


def _node_cores(nodes: Path) -> dict[int, frozenset[int]]:
    """The cores of every NUMA node that has some."""
    found = {}
    for folder in sorted(nodes.glob("node[0-9]*")):
        number = folder.name.removeprefix("node")
        cores = _cores(_text(folder / "cpulist"))
        if cores and number.isdecimal() and len(number) < 5:
            found[int(number)] = cores
    return found


def _governors(cores: Path) -> frozenset[str]:
    files = sorted(cores.glob("cpu[0-9]*/cpufreq/scaling_governor"))[:_MOST_CORES]
    names = (fitting(_text(file), SystemName) for file in files)
    return frozenset(name for name in names if name)


def _cores(text: str) -> frozenset[int]:
    """A list such as `0-3,8`; empty if it is anything else."""
    cores: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal()) or max(len(first), len(last)) > 5:
            return frozenset()
        if int(last) >= _MOST_CORES:
            return frozenset()
        cores.update(range(int(first), int(last) + 1))
    return frozenset(cores)


def _text(file: Path) -> str:
    """The content of a small file; "" where there is none, or it is not text."""
    try:
        with file.open("rb") as opened:
            return opened.read(_LONGEST).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _runs(name: str) -> bool:
    """Whether a program of that name runs on this host, as far as this account sees."""
    return any(process.info["name"] == name for process in psutil.process_iter(["name"]))
