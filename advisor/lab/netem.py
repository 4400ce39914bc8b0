"""Paths emulated by the kernel: netem and tbf, in routers between the hosts.

    source -- fork -- a -- b -- c -- far host          a, b and c belong to that host's path only
    source -- own -- spread -- fork -- a ...           if the source's interface has a rate

Each of them is a network namespace that forwards packets. The hosts' own devices have no queue: one
there would hold TCP back, and nothing would ever overflow. A direction has three stages, each on
the device by which packets leave a router, in the order in which packets pass them:

    queue   tbf: a drop-tail queue in bytes that empties at the rate
    wire    netem: gives each packet its transmission time; tbf alone sends a whole bucket at once,
            and it needs a bucket, as timers may be late
    delay   netem: propagation, jitter and loss

The kernel's scheduler adds 14 bytes of Ethernet to each packet; `stab` subtracts them, so that
rates, queues and counts are those of the IP layer.
"""

import asyncio
import contextlib
import itertools
import math
import os
import shutil
from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.hosts.packages import installation
from advisor.hosts.processes import output_of
from advisor.lab.backend import Crossings
from advisor.lab.messages import Crossing
from advisor.lab.networks import DEVICE, Network, NetworkError
from advisor.lab.paths import Direction, EmulatedPath, own_queue_bytes

NETEM_NAME: Final = "netem"
_TIMEOUT_S: Final = 10.0
_LONGEST_JITTER_S: Final = 4.0
# How late a kernel timer may be without affecting the rate.
_TIMER_S: Final = 0.002
# Slightly faster than the queue before it, or packets let through by the bucket would wait there
# permanently, and with unfavourable rounding accumulate.
_WIRE: Final = 1.00002
_NO_LIMIT: Final = 10**9
_MAC: Final = "02:00:00:00:00:01"
# With a rate, netem never schedules a packet before the one ahead of it. This rate is so high that
# its transmission times are negligible.
_IN_ORDER: Final = "rate 10tbit"
_ANY_ORDER: Final = "rate 0bit"

_PROBE: Final = """exec 2>&1; set -e
tc qdisc add dev lo root netem limit 10 delay 1ms
tc qdisc del dev lo root
tc qdisc add dev lo root stab overhead -14 tbf rate 1mbit burst 9000 limit 9000
tc qdisc del dev lo root
ip link add probe0 type veth peer name probe1
ip link del probe0
tc qdisc add dev lo root netem limit 10 seed 1 >/dev/null 2>&1 || true
tc qdisc show dev lo
tc qdisc del dev lo root 2>/dev/null || true
"""


class Abilities(msgspec.Struct, frozen=True):
    """What this kernel's netem can do. `seed`: whether its random generator accepts a seed."""

    seed: bool


async def abilities() -> Abilities:
    """Test netem in this process's own network namespace. Raises NetworkError with the remedy."""
    if shutil.which("tc") is None:
        how = installation("tc")
        raise NetworkError(
            "netem needs 'tc', which is not installed", remedy=how.remedy, command=how.command
        )
    status, words = await output_of(["sh", "-c", _PROBE], _TIMEOUT_S)
    if status:
        said = " ".join(words.split()) or f"exit status {status}"
        raise NetworkError(
            f"this kernel ({os.uname().release}) has no usable netem ('{said}')",
            remedy=(
                "try 'modprobe -a sch_netem sch_tbf veth' as root, or install the kernel's "
                "package with these modules (Debian: linux-image-amd64, Ubuntu: "
                "linux-modules-extra-…, Fedora: kernel-modules-extra)"
            ),
        )
    return Abilities(seed=" seed " in words)


def obstacle(
    paths: Sequence[EmulatedPath], own: Direction | None, seed: int, able: Abilities
) -> str | None:
    """Why netem cannot do all that is requested, in a sentence; None if it can."""
    if seed and not able.seed:
        return "a seed for netem needs Linux 6.6 and iproute2 6.7, which this machine does not have"
    mtu_bytes = max(path.mtu_bytes for path in paths)
    if own is not None and (own.delay_s or own.jitter_s or own.loss):
        return "with netem, the source's own interface has only a rate and a queue"
    if own is not None and (reason := _too_small(own_queue_bytes(own, paths), mtu_bytes)):
        return reason
    for path in paths:
        for direction in (path.forward, path.reverse):
            if reason := _too_small(path.queue_bytes(direction), path.mtu_bytes):
                return reason
            if direction.jitter_s > _LONGEST_JITTER_S:
                return f"netem's jitter is at most {_LONGEST_JITTER_S:g} s"
    return None


def _too_small(queue_bytes: int, mtu_bytes: int) -> str | None:
    if queue_bytes < 2 * mtu_bytes:
        return f"netem needs a queue of two packets, {2 * mtu_bytes} bytes, not {queue_bytes}"
    return None


def queue_stage(rate_bps: float, queue_bytes: int, mtu_bytes: int, is_cut: bool) -> str:
    """The tbf. What a bucket lets through at once waits at the wire: it is part of the queue.

    A cut path accepts nothing more, and packets already queued are forwarded.
    """
    bucket = max(mtu_bytes, min(queue_bytes // 2, max(2 * mtu_bytes, _bytes(rate_bps * _TIMER_S))))
    limit = 1 if is_cut else queue_bytes - bucket
    return f"tbf rate {_whole_bps(rate_bps)}bit burst {bucket} limit {limit}"


def _bytes(bits: float) -> int:
    return math.ceil(bits / 8)


def _whole_bps(rate_bps: float) -> int:
    return 8 * max(1, round(rate_bps / 8))  # The kernel uses whole bytes per second.


def wire_stage(rate_bps: float) -> str:
    """The netem that gives each packet its transmission time."""
    return f"netem limit {_NO_LIMIT} delay 0us rate {8 * _bytes(_whole_bps(rate_bps) * _WIRE)}bit"


def delay_stage(direction: Direction, seed: int | None) -> str:
    """The netem with propagation, jitter and loss; `seed`: None if it accepts none."""
    # Its jitter is uniform on both sides of the delay; ours starts at the delay.
    half_s = direction.jitter_s / 2
    words = [f"netem limit {_NO_LIMIT}"]
    words.append(f"delay {_time(direction.delay_s + half_s)} {_time(half_s)}")
    words.append(_ANY_ORDER if direction.reordering else _IN_ORDER)
    if direction.loss and direction.burst_packets <= 1:
        words.append(f"loss random {_percent(direction.loss)}")
    elif direction.loss:
        leave = 1 / direction.burst_packets
        enter = leave * direction.loss / (1 - direction.loss)
        # Gilbert's model: everything is lost in the bad state, nothing in the good one.
        words.append(f"loss gemodel {_percent(enter)} {_percent(leave)} 100% 0%")
    if seed is not None:
        words.append(f"seed {seed}")
    return " ".join(words)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.3f}us"


def _percent(share: float) -> str:
    return f"{min(share, 1.0) * 100:.8f}%"


class QdiscStage(msgspec.Struct, frozen=True):
    """The kernel's counters of the device by which packets leave; bytes at the IP layer.

    `backlog`: bytes in the queue now.
    """

    kind: str
    dev: str
    bytes: int = 0
    packets: int = 0
    drops: int = 0
    backlog: int = 0
    root: bool = False


def read_stages(text: str) -> list[dict[str, QdiscStage]]:
    """By device, for each line printed by `tc -s -j qdisc show`. Raises NetworkError."""
    try:
        found = [
            msgspec.json.decode(line, type=list[QdiscStage]) for line in text.splitlines() if line
        ]
    except msgspec.MsgspecError as error:
        raise NetworkError.about("tc's output for netem is not understood", error) from None
    return [{stage.dev: stage for stage in stages if stage.root} for stages in found]


class _Cut(msgspec.Struct):
    """Packets dropped by a cut, which the kernel counts with those dropped at a full queue."""

    is_now: bool = False
    before: int = 0
    begun_at: int = 0

    def of(self, drops: int) -> int:
        return self.before + (drops - self.begun_at if self.is_now else 0)

    def change(self, is_now: bool, drops: int) -> None:
        self.before, self.begun_at, self.is_now = self.of(drops), drops, is_now


class _Path(msgspec.Struct):
    """The routers a, b and c between the fork and one far host."""

    routers: list[Network]
    mtu_bytes: int
    number: int
    path: EmulatedPath | None = None
    changes: int = 0
    forward: _Cut = msgspec.field(default_factory=_Cut)
    reverse: _Cut = msgspec.field(default_factory=_Cut)


class Netem:
    """Paths by the kernel. No process runs: they end with the namespaces, which `close` releases.

    Its routers are created as hosts are added. Check `abilities` first.
    """

    name = NETEM_NAME

    def __init__(self, seed: int, able: Abilities, has_own: bool) -> None:
        """`has_own`: whether the source's own interface will ever have a rate."""
        self._seed = seed
        self._able = able
        self._has_own = has_own
        self._source = ""
        self._trunk: list[Network] = []
        self._mtu_bytes = 0
        self._paths: list[_Path] = []

    @property
    def carriers(self) -> list[int]:
        """None: no process of ours."""
        return []

    async def add_host(self, network: Network, address: str, mtu_bytes: int) -> None:
        """Create the next host's device and the routers before it. Raises NetworkError."""
        if not self._trunk:
            self._source, self._mtu_bytes = address, mtu_bytes
            self._trunk = [_router() for _ in range(3 if self._has_own else 1)]
            await self._lay_trunk(network)
        else:
            at = _Path([_router() for _ in range(3)], mtu_bytes, len(self._paths) + 1)
            self._paths.append(at)
            await self._lay_path(at, network, address)

    async def _lay_trunk(self, source: Network) -> None:
        await self._trunk[0].run(_pair("near", DEVICE, source, self._mtu_bytes))
        for one, other in itertools.pairwise(self._trunk):
            await one.run(_pair("far", "near", other, self._mtu_bytes))
        for router in self._trunk:
            lines = ["ip link set near up", f"ip route add {self._source}/32 dev near"]
            if router is not self._trunk[-1]:  # The fork has a route to each far host.
                lines += ["ip link set far up", "ip route add default dev far"]
            await router.run(*lines)

    async def _lay_path(self, at: _Path, host: Network, address: str) -> None:
        fork, leg = self._trunk[-1], f"far{at.number}"
        a, b, c = at.routers
        await asyncio.gather(
            fork.run(_pair(leg, "near", a, self._mtu_bytes)),
            a.run(_pair("far", "near", b, at.mtu_bytes)),
            b.run(_pair("far", "near", c, at.mtu_bytes)),
            c.run(_pair("far", DEVICE, host, at.mtu_bytes)),
        )
        towards = f"ip route add {address}/32 dev"
        back = "ip route add default dev near"  # The source, and the other far hosts.
        ups = ("ip link set near up", "ip link set far up")
        await asyncio.gather(
            fork.run(f"ip link set {leg} up", f"{towards} {leg}"),
            *(router.run(*ups, back, f"{towards} far") for router in at.routers),
        )

    async def carry(self) -> None:
        """Nothing to do: routers forward from the first packet on."""

    async def set_path(self, host: int, path: EmulatedPath) -> None:
        """Apply these parameters to a path; queued packets stay queued. Raises NetworkError."""
        at = self._paths[host - 1]
        path = msgspec.structs.replace(path, mtu_bytes=at.mtu_bytes)  # The hosts keep theirs.
        if reason := obstacle([path], None, 0, self._able):
            raise NetworkError(reason)
        at.changes += 1
        await self._put(at, path)
        at.path = path

    async def _put(self, at: _Path, path: EmulatedPath) -> None:
        a, b, c = at.routers
        there, back = path.forward, path.reverse
        await asyncio.gather(
            a.run(
                _on("far", _queue(path, there, at.forward.is_now)),
                _on("near", delay_stage(back, self._dice(at, 1))),
            ),
            b.run(_on("far", wire_stage(there.rate_bps)), _on("near", wire_stage(back.rate_bps))),
            c.run(
                _on("far", delay_stage(there, self._dice(at, 0))),
                _on("near", _queue(path, back, at.reverse.is_now)),
            ),
        )

    def _dice(self, at: _Path, which: int) -> int | None:
        # Each direction and host has its own seed, and a change does not repeat the sequence.
        if not self._able.seed:
            return None
        return (self._seed * 1000 + at.number * 2 + which) * 1000 + at.changes

    async def set_own(self, direction: Direction, queue_bytes: int) -> None:
        """Limit the rate of the source's own interface, both ways. Raises NetworkError."""
        if not self._has_own:
            raise NetworkError("this lab was made without a rate for the source's own interface")
        reason = _too_small(queue_bytes, self._mtu_bytes)
        if reason:
            raise NetworkError(reason)
        own, spread, _ = self._trunk
        queue = queue_stage(direction.rate_bps, queue_bytes, self._mtu_bytes, is_cut=False)
        wire = wire_stage(direction.rate_bps)
        await own.run(_on("far", queue), _on("near", wire))
        await spread.run(_on("far", wire), _on("near", queue))

    async def set_cut(self, host: int, is_cut: bool) -> None:
        """Cut or restore the path to a host; after a failure it may be tried again.

        Raises NetworkError.
        """
        at = self._paths[host - 1]
        path = at.path
        assert path is not None  # A lab sets all paths before it obeys commands.
        if at.forward.is_now == at.reverse.is_now == is_cut:
            return
        routers, stages = at.routers, await _stages(at.routers)
        for place, device, direction, cut in (
            (0, "far", path.forward, at.forward),
            (2, "near", path.reverse, at.reverse),
        ):
            if cut.is_now == is_cut:
                continue
            # Only packets entering the queue are dropped; queued packets and those in flight
            # arrive. The delay's stage is left alone: set again, it would repeat its losses.
            await routers[place].run(_on(device, _queue(path, direction, is_cut)))
            cut.change(is_cut, stages[place][device].drops)

    async def crossings(self) -> Crossings:
        """The traffic so far; the kernel does not report lateness. Raises NetworkError."""
        owns = self._trunk[:2] if self._has_own else []
        found = await _stages([*owns, *(router for at in self._paths for router in at.routers)])
        forward, reverse = [Crossing()], [Crossing()]
        if self._has_own:
            own, spread, *found = found
            forward = [_crossing(own["far"], spread["far"], spread["far"], None)]
            reverse = [_crossing(spread["near"], own["near"], own["near"], None)]
        for number, at in enumerate(self._paths):
            a, b, c = found[3 * number : 3 * number + 3]
            forward.append(_crossing(a["far"], b["far"], c["far"], at.forward))
            reverse.append(_crossing(c["near"], b["near"], a["near"], at.reverse))
        return Crossings(forward, reverse, None)

    async def wait(self) -> None:
        """Wait forever: nothing could end by itself."""
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Release the routers; their devices and the hosts' ends of them are removed with them."""
        for router in [*self._trunk, *(router for at in self._paths for router in at.routers)]:
            router.close()
        self._trunk, self._paths = [], []


def _crossing(queue: QdiscStage, wire: QdiscStage, last: QdiscStage, cut: _Cut | None) -> Crossing:
    taken = cut.of(queue.drops) if cut else 0
    return Crossing(
        packets=last.packets,
        bytes=last.bytes,
        dropped=queue.drops - taken,
        lost=last.drops,
        cut=taken,
        queue_bytes=float(queue.backlog + wire.backlog),
        queue_most_bytes=None,
    )


def _queue(path: EmulatedPath, direction: Direction, is_cut: bool) -> str:
    queue_bytes = path.queue_bytes(direction)
    return queue_stage(direction.rate_bps, queue_bytes, path.mtu_bytes, is_cut)


def _on(device: str, stage: str) -> str:
    # An existing stage of the same kind is changed, and keeps its packets.
    return f"tc qdisc replace dev {device} root stab overhead -14 {stage}"


def _router() -> Network:
    """A network that forwards packets. Raises NetworkError."""
    router = Network()
    router.sysctl("net.ipv4.conf.all.rp_filter", "0")
    router.sysctl("net.ipv4.conf.default.rp_filter", "0")
    router.sysctl("net.ipv4.ip_forward", "1")
    with contextlib.suppress(OSError):  # A kernel without IPv6 does not have this setting.
        router.sysctl("net.ipv6.conf.default.disable_ipv6", "1")
    return router


def _pair(device: str, others_device: str, other: Network, mtu_bytes: int) -> str:
    """The command that joins two networks, to be run in the first.

    Both ends have the same address and use no ARP: what leaves by one is for the other. Packets
    are not aggregated beyond the MTU, since queue and loss would treat such a packet as one.
    """
    end = f"mtu {mtu_bytes} address {_MAC} arp off gso_max_segs 1"
    return (
        f"ip link add {device} {end} type veth peer name {others_device} {end} netns {other.path}"
    )


async def _stages(routers: list[Network]) -> list[dict[str, QdiscStage]]:
    script = "\n".join(f"nsenter --net={router.path} -- tc -s -j qdisc show" for router in routers)
    try:
        status, text = await output_of(["sh", "-ec", script], _TIMEOUT_S)
    except (OSError, TimeoutError) as error:
        raise NetworkError.about("tc does not report the traffic", error) from None
    if status:
        raise NetworkError(f"tc does not report the traffic: exit status {status}")
    return read_stages(text)
