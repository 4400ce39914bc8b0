"""Network namespaces without a name: they end with the process that made them, however it ends."""

import contextlib
import ctypes
import os
import subprocess
import time
from collections.abc import Iterator

from advisor.lab.networks import Network

_CLONE_NEWNET = 0x40000000
# /sys shows the network of whoever mounted it.
_OWN_SYS = 'mount -t sysfs none /sys && exec "$@"'


class Namespace:
    """One network namespace, with its loopback device up."""

    def __init__(self) -> None:
        """Raises NetworkError where none can be made."""
        self.network = Network()
        self.run("ip", "link", "set", "lo", "up")

    @property
    def path(self) -> str:
        return self.network.path

    @property
    def host(self) -> list[str]:
        """What to put before a command so that it runs there, in a /sys and /proc of that host."""
        return [*self.network.prefix, "unshare", "--mount", "sh", "-c", _OWN_SYS, "sh"]

    def run(self, *argv: str) -> str:
        """Run a command there; its output."""
        command = [*self.network.prefix, *argv]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout

    def wait_for_link(self, device: str, timeout_s: float = 30) -> None:
        """Wait until the kernel calls this device up."""
        deadline = time.monotonic() + timeout_s
        while "state UP" not in (shown := self.run("ip", "link", "show", device)):
            assert time.monotonic() < deadline, shown
            time.sleep(0.02)

    def close(self) -> None:
        self.network.close()


@contextlib.contextmanager
def entered(path: str) -> Iterator[None]:
    """Sockets that this thread makes in the block belong to that namespace, also afterwards."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(path, os.O_RDONLY)
    try:
        assert libc.setns(there, _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        yield
    finally:
        assert libc.setns(home, _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        os.close(there)
        os.close(home)
