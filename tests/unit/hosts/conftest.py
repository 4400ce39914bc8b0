"""Network namespaces for the tests in which the network is the point."""

import contextlib
import ctypes
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_CLONE_NEWNET = 0x40000000


class Network:
    """Namespaces of its own, by short names; all removed at its end."""

    def __init__(self) -> None:
        self._unique = secrets.token_hex(3)
        self._names: list[str] = []

    def real(self, name: str) -> str:
        return f"adv-{self._unique}-{name}"

    def add(self, name: str) -> None:
        run("ip", "netns", "add", self.real(name))
        self._names.append(name)
        self.ip(name, "link", "set", "lo", "up")

    def ip(self, name: str, *arguments: str) -> None:
        run("ip", "-n", self.real(name), *arguments)

    def tc(self, name: str, *arguments: str) -> None:
        run("ip", "netns", "exec", self.real(name), "tc", *arguments)

    def join(self, left: str, right: str, subnet: str, mtus: tuple[int, int]) -> None:
        """A veth pair, `subnet`.1 on the left and `subnet`.2 on the right; devices named after
        the namespace they lead to."""
        names = (f"to-{right}", f"to-{left}")
        peer = ("peer", "name", names[1], "netns", self.real(right))
        self.ip(left, "link", "add", names[0], "type", "veth", *peer)
        for number, (name, device, mtu) in enumerate(zip((left, right), names, mtus, strict=True)):
            self.ip(name, "addr", "add", f"{subnet}.{number + 1}/24", "dev", device)
            v6 = f"fd00:{subnet.rpartition('.')[2]}::{number + 1}/64"
            self.ip(name, "addr", "add", v6, "dev", device, "nodad")
            self.ip(name, "link", "set", device, "mtu", str(mtu), "up")
        # IPv6 uses a device only once its state is up, which may take the kernel a second to note.
        while "state UP" not in run("ip", "-n", self.real(right), "link", "show", names[1]):
            time.sleep(0.02)
        while "state UP" not in run("ip", "-n", self.real(left), "link", "show", names[0]):
            time.sleep(0.02)

    def sysctl(self, name: str, key: str, value: str) -> None:
        with self.inside(name):
            Path("/proc/sys", key.replace(".", "/")).write_text(value)

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Sockets that this thread makes in the block belong to the namespace, also afterwards."""
        libc = ctypes.CDLL(None, use_errno=True)
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.real(name)}", os.O_RDONLY)
        try:
            assert libc.setns(there, _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            yield
        finally:
            assert libc.setns(home, _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            os.close(there)
            os.close(home)

    def remove(self) -> None:
        for name in self._names:
            run("ip", "netns", "del", self.real(name))


def run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=10).stdout


@pytest.fixture
def network() -> Iterator[Network]:
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces need root and the ip program")
    network = Network()
    try:
        network.add("near")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
    try:
        yield network
    finally:
        network.remove()
