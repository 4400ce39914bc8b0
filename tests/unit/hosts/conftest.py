"""Network namespaces for the tests in which the network is the point."""

import contextlib
import shutil
from collections.abc import Iterator

import pytest

from advisor.lab.networks import NetworkError
from tests.namespaces import Namespace, entered


class Network:
    """Namespaces of its own, by short names. The kernel removes them with this process at last."""

    def __init__(self) -> None:
        self._made: dict[str, Namespace] = {}

    def add(self, name: str) -> None:
        self._made[name] = Namespace()

    def ip(self, name: str, *arguments: str) -> None:
        self._made[name].run("ip", *arguments)

    def tc(self, name: str, *arguments: str) -> None:
        self._made[name].run("tc", *arguments)

    def host(self, name: str) -> list[str]:
        """What to put before a command so that its whole process sees this network."""
        return self._made[name].host

    def join(self, left: str, right: str, subnet: str, mtus: tuple[int, int]) -> None:
        """A veth pair, `subnet`.1 on the left and `subnet`.2 on the right; devices named after
        the namespace they lead to."""
        names = (f"to-{right}", f"to-{left}")
        peer = ("peer", "name", names[1], "netns", self._made[right].path)
        self.ip(left, "link", "add", names[0], "type", "veth", *peer)
        for number, (name, device, mtu) in enumerate(zip((left, right), names, mtus, strict=True)):
            self.ip(name, "addr", "add", f"{subnet}.{number + 1}/24", "dev", device)
            v6 = f"fd00:{subnet.rpartition('.')[2]}::{number + 1}/64"
            self.ip(name, "addr", "add", v6, "dev", device, "nodad")
            self.ip(name, "link", "set", device, "mtu", str(mtu), "up")
        # IPv6 uses a device only once its state is up, which may take the kernel a second to note.
        for name, device in zip((left, right), names, strict=True):
            self._made[name].wait_for_link(device)

    def sysctl(self, name: str, key: str, value: str) -> None:
        self._made[name].network.sysctl(key, value)

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Sockets that this thread makes in the block belong to the namespace, also afterwards."""
        with entered(self._made[name].path):
            yield

    def remove(self) -> None:
        while self._made:
            self._made.popitem()[1].close()


@pytest.fixture
def network() -> Iterator[Network]:
    if not shutil.which("ip"):
        pytest.skip("network namespaces need the ip program")
    network = Network()
    try:
        network.add("near")
    except NetworkError as error:
        pytest.skip(f"no network namespaces here: {error}")
    try:
        yield network
    finally:
        network.remove()
