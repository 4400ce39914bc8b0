"""Network namespaces: creating, entering, and assigning addresses.

A namespace has no name; only the supervisor holds it open, and it ends with the supervisor.
"""

import ctypes
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.processes import output_of

DEVICE: Final = "wan0"
_ALWAYS_THERE: Final = {"lo", "sit0", "tunl0", "ip6tnl0"}
_CLONE_NEWNET: Final = 0x40000000
_COMMAND_TIMEOUT_S: Final = 10.0
_T = TypeVar("_T")
# Python has os.unshare and os.setns from 3.12 on.
_libc: Final = ctypes.CDLL(None, use_errno=True)


class NetworkError(ProblemError):
    """The kernel or a program refused; the message is a sentence."""

    kind = ProblemKind.UNSUPPORTED


def _checked(result: int, what: str) -> None:
    if result:
        raise NetworkError(f"{what}: {os.strerror(ctypes.get_errno())}")


def _in_thread(function: Callable[[], _T]) -> _T:
    """Call it in a separate thread, which may change its namespace; its exceptions are raised."""
    result: dict[str, Any] = {}

    def run() -> None:
        try:
            result["value"] = function()
        except Exception as error:  # noqa: BLE001 -- passed on to the caller, whatever it is
            result["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "error" in result:
        raise result["error"]
    value: _T = result["value"]
    return value


class Network:
    """A network namespace of our own, for the lifetime of this object."""

    def __init__(self) -> None:
        """Create one. Raises NetworkError."""

        def make() -> int:
            _checked(_libc.unshare(_CLONE_NEWNET), "a network namespace cannot be made")
            return os.open("/proc/thread-self/ns/net", os.O_RDONLY)

        self._descriptor = _in_thread(make)

    @property
    def path(self) -> str:
        """Its path for other processes, as long as this process lives."""
        return f"/proc/{os.getpid()}/fd/{self._descriptor}"

    @property
    def prefix(self) -> list[str]:
        """The prefix of a command that makes it run there."""
        return ["nsenter", f"--net={self.path}", "--"]

    def close(self) -> None:
        """Release it: it ends with the last process in it."""
        os.close(self._descriptor)

    def _call(self, function: Callable[[], _T]) -> _T:
        def enter() -> _T:
            _checked(_libc.setns(self._descriptor, _CLONE_NEWNET), "cannot enter the network")
            return function()

        return _in_thread(enter)

    def answers(self, address: str, port: int) -> bool:
        """Whether something accepts TCP connections at this address, from inside."""

        def connect() -> bool:
            try:
                with socket.create_connection((address, port), timeout=1):
                    return True
            except OSError:
                return False

        return self._call(connect)

    def sysctl(self, name: str, value: str) -> None:
        """Set a `net.…` sysctl of this namespace. Raises OSError."""
        file = Path("/proc/sys") / name.replace(".", "/")
        self._call(lambda: file.write_text(value))

    def read_sysctl(self, name: str) -> str:
        """The value of a `net.…` sysctl of this namespace. Raises OSError."""
        file = Path("/proc/sys") / name.replace(".", "/")
        return self._call(file.read_text).strip()

    async def run(self, *lines: str) -> None:
        """Run shell commands there, up to the first that fails; then raises NetworkError."""
        # Their error messages are needed, and output_of does not return standard error.
        script = "exec 2>&1; set -e\n" + "\n".join(lines)
        status, words = await output_of([*self.prefix, "sh", "-c", script], _COMMAND_TIMEOUT_S)
        if status:
            raise NetworkError(words.strip() or f"exit status {status}")


def own_network() -> int:
    """The number of the network namespace that this process is in."""
    return Path("/proc/self/ns/net").stat().st_ino


def require_empty_network(outside: int) -> None:
    """Raises NetworkError unless this network is new: not `outside`, and with only `lo` in it.

    The last check before anything is changed: a network with a route or any real interface is not
    the lab's.
    """
    routes = Path("/proc/self/net/route").read_text().splitlines()[1:]
    devices = {line.split(":")[0].strip() for line in _device_lines()}
    if own_network() == outside or routes or devices - _ALWAYS_THERE:
        raise NetworkError("this network is not the lab's own: nothing is changed here")


def _device_lines() -> list[str]:
    return Path("/proc/self/net/dev").read_text().splitlines()[2:]


async def set_up_host(
    network: Network, address: str, routes: dict[str, int], tcp_buffer_bytes: int
) -> None:
    """Give a host its address, and routes by address with the MTU of each path.

    Raises NetworkError, OSError.
    """
    network.sysctl("net.ipv4.ping_group_range", f"{os.getgid()} {os.getgid()}")
    for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
        least, middle, _ = network.read_sysctl(name).split()
        first = min(int(middle), tcp_buffer_bytes)
        network.sysctl(name, f"{least} {first} {tcp_buffer_bytes}")
    await network.run(
        "ip link set lo up",
        f"ip addr add {address}/32 dev {DEVICE}",
        # Long enough that packets wait only in the emulated queue.
        f"ip link set {DEVICE} txqueuelen 20000 addrgenmode none",
        f"ip link set {DEVICE} up",  # Separately: otherwise it gets its IPv6 address first.
        *(f"ip route add {to}/32 dev {DEVICE} mtu {mtu}" for to, mtu in routes.items()),
    )
