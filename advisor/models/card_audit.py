"""Compares the network cards of one host, and what serves them, with the field's recommendations.

The recommendations are for cards that are faster than what one core carries. Slower cards are not
judged, and neither is what a host does not report.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.domain.quantities import format_bytes
from advisor.domain.shell import shell_line
from advisor.models.findings import Finding, Remedy, Severity
from advisor.models.host_tuning import sysctl_line

FAST_BPS: Final = 20e9
"""About what one core carries: faster cards depend on how cores and interrupts are used."""

OPTMEM_MAX: Final = "net.core.optmem_max"

_AS_OF: Final = "2026-11"
_TUNING: Final = f"https://fasterdata.es.net/host-tuning/linux/100g-tuning/ ({_AS_OF})"
_BINDING: Final = (
    f"https://fasterdata.es.net/host-tuning/linux/100g-tuning/interrupt-binding/ ({_AS_OF})"
)
_SCALING: Final = f"https://docs.kernel.org/networking/scaling.html ({_AS_OF})"
_OFFLOADS: Final = f"https://docs.kernel.org/networking/segmentation-offloads.html ({_AS_OF})"
_ZEROCOPY: Final = f"https://docs.kernel.org/networking/msg_zerocopy.html ({_AS_OF})"

_PERFORMANCE: Final = "performance"
_ENOUGH_DESCRIPTORS: Final = 8192
_OPTMEM_BYTES: Final = 2**20


class Rings(msgspec.Struct, frozen=True, kw_only=True):
    """Descriptors of a card's receive and transmit rings, and the most that it can have."""

    rx: int
    rx_most: int
    tx: int
    tx_most: int


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a card obeys pause frames (`rx`) and sends them (`tx`)."""

    rx: bool
    tx: bool


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A network card; None or empty where it is not known.

    `numa_node`: to whose processor it is attached. `irq_cores`: for each of its interrupts, the
    cores that serve it. `offloads`: by ethtool's name, whether each is on.
    """

    name: str
    link_bps: float | None
    numa_node: int | None = None
    irq_cores: tuple[frozenset[int], ...] = ()
    rings: Rings | None = None
    pause: Pause | None = None
    offloads: dict[str, bool] = {}


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """The cards and what serves them; None or empty where it is not known.

    `node_cores`: the cores of each NUMA node that has some. `own_cores`: those that this account's
    programs may use. `governors`: of all cores. `irqbalance`: whether it runs.
    `optmem_max_bytes`: net.core.optmem_max.
    """

    cards: tuple[Card, ...] = ()
    node_cores: dict[int, frozenset[int]] = {}
    own_cores: frozenset[int] = frozenset()
    governors: frozenset[str] = frozenset()
    irqbalance: bool | None = None
    optmem_max_bytes: int | None = None


def audit_cards(hardware: Hardware) -> list[Finding]:
    """What is known of each fast card, and of the host if it has one."""
    fast = [card for card in hardware.cards if card.link_bps and card.link_bps >= FAST_BPS]
    if not fast:
        return []
    return [
        *_governor(hardware),
        *_optmem(hardware),
        *(finding for card in fast for finding in _of_card(card, hardware)),
    ]


def _of_card(card: Card, hardware: Hardware) -> Iterator[Finding]:
    yield from _node(card, hardware)
    yield from _interrupts(card, hardware)
    yield from _rings(card)
    yield from _pause(card)
    yield from _offloads(card)


def _finding(
    what: str, value: str, reference: str, cost: str = "", remedies: tuple[str, ...] = ()
) -> Finding:
    """A setting that is good, or with `cost` one that could be better."""
    return Finding(
        what=what,
        source=value,
        severity=Severity.WATCH if cost else Severity.GOOD,
        cost=cost,
        remedies=tuple(Remedy(None, line) for line in remedies),
        reference=reference if cost else "",
    )


def _governor(hardware: Hardware) -> Iterator[Finding]:
    if not hardware.governors:
        return
    value = ", ".join(sorted(hardware.governors))
    if hardware.governors == {_PERFORMANCE}:
        yield _finding("CPU frequency governor", value, _TUNING)
    else:
        yield _finding(
            "CPU frequency governor",
            value,
            _TUNING,
            "a core that is clocked down carries less of a single stream",
            (shell_line(["cpupower", "frequency-set", "-g", _PERFORMANCE]),),
        )


def _optmem(hardware: Hardware) -> Iterator[Finding]:
    size = hardware.optmem_max_bytes
    if size is None:
        return
    small = size < _OPTMEM_BYTES
    yield _finding(
        OPTMEM_MAX,
        format_bytes(size),
        _ZEROCOPY,
        "too small for tools that send without copying (MSG_ZEROCOPY), no matter for others"
        if small
        else "",
        (sysctl_line(OPTMEM_MAX, _OPTMEM_BYTES),) if small else (),
    )


def _node(card: Card, hardware: Hardware) -> Iterator[Finding]:
    """On hosts of several NUMA nodes: whether programs run where the card is attached."""
    node, nodes = card.numa_node, hardware.node_cores
    if node not in nodes or len(nodes) < 2:
        return
    own = hardware.own_cores
    if own and own <= nodes[node]:
        yield _finding(f"{card.name} NUMA node", f"{node}, as this program", _BINDING)
        return
    yield _finding(
        f"{card.name} NUMA node",
        f"{node} of {len(nodes)}, cores {_ranges(nodes[node])}",
        _BINDING,
        "a program on another node sends every byte across the link between the processors",
        (f"numactl --cpunodebind={node} --membind={node} before the command",),
    )


def _interrupts(card: Card, hardware: Hardware) -> Iterator[Finding]:
    if not card.irq_cores:
        return
    what, used = f"{card.name} interrupts", frozenset[int]().union(*card.irq_cores)
    value = f"{len(card.irq_cores)} on cores {_ranges(used)}"
    near = hardware.node_cores.get(-1 if card.numa_node is None else card.numa_node)
    cores = frozenset[int]().union(*hardware.node_cores.values())
    if len(hardware.node_cores) > 1 and near and not used <= near:
        yield _finding(
            what,
            value,
            _BINDING,
            f"some are served by cores of another NUMA node than {card.numa_node}",
            (
                "systemctl stop irqbalance, then the vendor's "
                + shell_line(["set_irq_affinity_bynode.sh", str(card.numa_node), card.name]),
            ),
        )
    elif len(used) == 1 and len(card.irq_cores) > 1 and len(cores) > 1:
        balance = "systemctl start irqbalance, or bind each to a core of its own"
        spread = "bind each to a core of its own: irqbalance runs, and has not spread them"
        yield _finding(
            what,
            value,
            _SCALING,
            "one core serves all queues, and is full before the link is",
            (spread if hardware.irqbalance else balance,),
        )
    else:
        yield _finding(what, value, _SCALING)


def _ranges(cores: frozenset[int]) -> str:
    """`0-3,8`."""
    parts: list[list[int]] = []
    for core in sorted(cores):
        if parts and core == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], core]
        else:
            parts.append([core])
    return ",".join("-".join(map(str, part)) for part in parts)


def _rings(card: Card) -> Iterator[Finding]:
    rings = card.rings
    if rings is None:
        return
    rx, tx = (min(most, _ENOUGH_DESCRIPTORS) for most in (rings.rx_most, rings.tx_most))
    small = rings.rx < rx or rings.tx < tx
    line = shell_line(["ethtool", "-G", card.name, "rx", str(rx), "tx", str(tx)])
    yield _finding(
        f"{card.name} rings",
        f"rx {rings.rx} of {rings.rx_most}, tx {rings.tx} of {rings.tx_most}",
        _TUNING,
        "a burst that finds no free descriptor is dropped" if small else "",
        (line,) if small else (),
    )


def _pause(card: Card) -> Iterator[Finding]:
    pause = card.pause
    if pause is None:
        return
    on = pause.rx and pause.tx
    words = {True: "on", False: "off"}
    yield _finding(
        f"{card.name} pause frames",
        f"rx {words[pause.rx]}, tx {words[pause.tx]}",
        _TUNING,
        "" if on else "a switch and a host that cannot pause each other drop packets in bursts",
        () if on else (shell_line(["ethtool", "-A", card.name, "rx", "on", "tx", "on"]),),
    )


def _offloads(card: Card) -> Iterator[Finding]:
    if not card.offloads:
        return
    off = [name for name, is_on in card.offloads.items() if not is_on]
    flags = [word for name in off for word in (name, "on")]
    yield _finding(
        f"{card.name} offloads",
        f"{', '.join(off)} off" if off else f"{', '.join(card.offloads)} on",
        _OFFLOADS,
        "without them a core handles every packet by itself" if off else "",
        (shell_line(["ethtool", "-K", card.name, *flags]),) if off else (),
    )
