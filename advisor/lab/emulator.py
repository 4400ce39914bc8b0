"""Paths emulated by a program of our own: see `wanpath.c`."""

import asyncio
from pathlib import Path
from typing import Final

import msgspec

from advisor.hosts.processes import Child, start
from advisor.lab.backend import Crossings
from advisor.lab.messages import Crossing, Lateness
from advisor.lab.networks import DEVICE, Network, NetworkError
from advisor.lab.paths import Direction, EmulatedPath

SOURCE_FILE: Final = Path(__file__).with_name("wanpath.c")
EMULATOR_NAME: Final = "own emulator"
_REPLY_S: Final = 5.0
_FORWARD: Final = 0
_REVERSE: Final = 1


class _DirectionStats(msgspec.Struct):
    links: list[Crossing]
    stray: int
    late_most_s: float
    late: list[int]


class _Stats(msgspec.Struct):
    directions: list[_DirectionStats]


class Emulator:
    """The running program. `start` it, add hosts, carry; `close` ends it."""

    name = EMULATOR_NAME

    def __init__(self, child: Child, seed: int) -> None:
        self._child = child
        self._seed = seed
        self._lock = asyncio.Lock()

    @classmethod
    async def start(cls, program: Path, seed: int) -> "Emulator":
        """Raises NetworkError when the program cannot be started."""
        try:
            return cls(await start([str(program)]), seed)
        except OSError as error:
            raise NetworkError(f"{program}: {error.strerror}") from None

    @property
    def carriers(self) -> list[int]:
        """The program's process."""
        return [self._child.pid]

    async def _tell(self, line: str) -> str:
        async with self._lock:
            try:
                self._child.stdin.write(line.encode() + b"\n")
                async with asyncio.timeout(_REPLY_S):
                    reply = (await self._child.stdout.readline()).decode().strip()
            except (OSError, TimeoutError):
                reply = ""
                # A late reply would be mistaken for that to the next command.
                await self._child.end()
        if not reply:
            raise NetworkError("the emulator no longer answers")
        if reply.startswith("error "):
            raise NetworkError(f"the emulator refused '{line}': {reply.removeprefix('error ')}")
        return reply

    async def add_host(self, network: Network, address: str, mtu_bytes: int) -> None:
        """Create the device of the next host, the source first. Raises NetworkError."""
        await self._tell(f"host {network.path} {DEVICE} {mtu_bytes} {address}")

    async def carry(self) -> None:
        """Start forwarding; all hosts have been added. Raises NetworkError."""
        await self._tell("start")

    async def set_path(self, host: int, path: EmulatedPath) -> None:
        """Apply these parameters to a path, from the next packet on. Raises NetworkError."""
        for which, direction in ((_FORWARD, path.forward), (_REVERSE, path.reverse)):
            await self._link(host, which, direction, path.queue_bytes(direction))

    async def set_own(self, direction: Direction, queue_bytes: int) -> None:
        """Limit the rate of the source's own interface, both ways. Raises NetworkError."""
        for which in (_FORWARD, _REVERSE):
            await self._link(0, which, direction, queue_bytes)

    async def _link(self, host: int, which: int, link: Direction, queue_bytes: int) -> None:
        await self._tell(
            f"link {host} {which} {link.rate_bps:.3f} {link.delay_s * 1e9:.0f} "
            f"{link.jitter_s * 1e9:.0f} {link.loss:.12g} {link.burst_packets:.6g} {queue_bytes} "
            # Each link has its own random generator, or equal paths would lose the same packets.
            f"{link.reordering:d} {self._seed * 1000 + host * 2 + which}"
        )

    async def set_cut(self, host: int, is_cut: bool) -> None:
        """Cut or restore the path to a host. Raises NetworkError."""
        await self._tell(f"{'cut' if is_cut else 'restore'} {host}")

    async def crossings(self) -> Crossings:
        """The traffic so far. Raises NetworkError."""
        stats = msgspec.json.decode(await self._tell("stats"), type=_Stats)
        forward, reverse = stats.directions
        late = [a + b for a, b in zip(forward.late, reverse.late, strict=True)]
        most_s = max(forward.late_most_s, reverse.late_most_s)
        lateness = Lateness(p99_s=min(_p99_s(late), most_s), most_s=most_s)
        return Crossings(forward.links, reverse.links, lateness)

    async def wait(self) -> None:
        """Wait until it ends by itself, which it should not."""
        await self._child.wait()

    async def close(self) -> None:
        """End it, and its devices with it."""
        await self._child.end()


def _p99_s(late: list[int]) -> float:
    """The upper edge of the bucket with the 99th percentile: bucket i is below 2^i µs."""
    left = sum(late) * 0.99
    for bucket, count in enumerate(late):
        left -= count
        if left <= 0:
            return float(2**bucket) * 1e-6 if any(late) else 0.0
    return 0.0
