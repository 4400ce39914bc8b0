"""What emulates the paths of a lab: a program of our own, or the kernel's netem."""

from typing import Literal, Protocol

import msgspec

from advisor.lab.messages import Crossing, Lateness
from advisor.lab.networks import Network
from advisor.lab.paths import Direction, EmulatedPath

Choice = Literal["auto", "netem", "own"]
"""Which backend is wanted; auto: netem where there is one that can do all that is asked."""


class Crossings(msgspec.Struct, frozen=True):
    """What has crossed so far, by host number; number 0 is the source's own interface."""

    forward: list[Crossing]
    reverse: list[Crossing]
    lateness: Lateness | None


class Backend(Protocol):
    """Paths from a source to other hosts. All calls raise NetworkError when it cannot be done.

    Hosts are added in order, the source first as number 0; then every path is set once, then it
    carries. A path and the source's own interface may be set again at any time.
    """

    @property
    def name(self) -> str:
        """For people."""

    @property
    def carriers(self) -> list[int]:
        """The processes that carry the packets; none where the kernel does it."""

    async def add_host(self, network: Network, address: str, mtu_bytes: int) -> None:
        """Make the next host's device, called DEVICE, in its network. It is not up yet."""

    async def carry(self) -> None:
        """All hosts are there: begin."""

    async def set_path(self, host: int, path: EmulatedPath) -> None:
        """Have the path to a host as described, from the next packet on."""

    async def set_own(self, direction: Direction, queue_bytes: int) -> None:
        """Give the source's own interface a rate, both ways; the paths share it."""

    async def set_cut(self, host: int, is_cut: bool) -> None:
        """Let nothing through to and from a host, or again."""

    async def crossings(self) -> Crossings:
        """What has crossed so far."""

    async def wait(self) -> None:
        """Until it ends by itself, which it should not."""

    async def close(self) -> None:
        """End it."""
