"""The emulator of a lab's paths: a program of our own, or the kernel's netem."""

from typing import Literal, Protocol

import msgspec

from advisor.lab.messages import Crossing, Lateness
from advisor.lab.networks import Network
from advisor.lab.paths import Direction, EmulatedPath

BackendChoice = Literal["auto", "netem", "own"]
"""The requested backend; auto: netem if it is available and supports everything requested."""


class Crossings(msgspec.Struct, frozen=True):
    """The traffic so far, by host number; number 0 is the source's own interface."""

    forward: list[Crossing]
    reverse: list[Crossing]
    lateness: Lateness | None


class Backend(Protocol):
    """Paths from a source to other hosts. All calls raise NetworkError on failure.

    Hosts are added in order, the source first as number 0; then every path is set once, then
    forwarding starts. Paths and the source's own interface may be changed at any time after that.
    """

    @property
    def name(self) -> str:
        """The name shown to users."""

    @property
    def carriers(self) -> list[int]:
        """The processes that forward the packets; none where the kernel does it."""

    async def add_host(self, network: Network, address: str, mtu_bytes: int) -> None:
        """Create the next host's device, called DEVICE, in its network. It is not up yet."""

    async def carry(self) -> None:
        """Start forwarding; all hosts have been added."""

    async def set_path(self, host: int, path: EmulatedPath) -> None:
        """Apply these parameters to the path to a host, from the next packet on."""

    async def set_own(self, direction: Direction, queue_bytes: int) -> None:
        """Limit the rate of the source's own interface, both ways; the paths share it."""

    async def set_cut(self, host: int, is_cut: bool) -> None:
        """Cut the path to a host in both directions, or restore it."""

    async def crossings(self) -> Crossings:
        """The traffic so far."""

    async def wait(self) -> None:
        """Wait until it ends by itself, which it should not."""

    async def close(self) -> None:
        """End it."""
