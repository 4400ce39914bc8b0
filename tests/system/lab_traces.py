"""What of a lab there could be left, and what of this machine no lab may touch."""

import contextlib
import os
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .labs import Lab, marked, need_labs
from .program import wait_until

SYSCTLS = ("net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem", "net/ipv4/ping_group_range")


def host_facts() -> dict[str, Any]:
    """What of this machine no lab may touch."""
    facts: dict[str, Any] = {n: Path("/proc/sys", n).read_text() for n in SYSCTLS}
    facts["/etc/hosts"] = Path("/etc/hosts").read_bytes()
    facts["devices"] = re.findall(r"^ *(\S+):", Path("/proc/net/dev").read_text(), re.MULTILINE)
    facts["routes"] = Path("/proc/net/route").read_text()
    return facts


def networks() -> dict[int, list[int]]:
    """Network namespaces by number, with the processes in them."""
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                number = (folder / "ns" / "net").stat().st_ino
            except OSError:
                continue
            found.setdefault(number, []).append(int(folder.name))
    return found


class Traces:
    """What of a lab there could be left."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.mark = lab.state["mark"]
        opened = [Path(host["network"]) for host in lab.state["hosts"]]
        supervisors = Path(*opened[0].parts[:3], "ns", "net")
        # Held open: the kernel gives the number of a network that is gone to the next one.
        held = [os.open(path, os.O_RDONLY) for path in [*opened, supervisors]]
        for one in held:
            weakref.finalize(self, os.close, one)
        self.networks = {os.fstat(one).st_ino for one in held}

    def left(self) -> list[str]:
        left = [f"process {pid}: {line}" for pid, line in marked(self.mark).items()]
        left += [f"in its network: {p}" for n, p in networks().items() if n in self.networks]
        left += [
            f"mount: {line}"
            for line in Path("/proc/self/mounts").read_text().splitlines()
            if str(self.lab.home) in line or " /etc/hosts " in line
        ]
        if self.lab.folder.exists():
            left.append(str(self.lab.folder))
        return left

    def assert_gone(self) -> None:
        assert wait_until(lambda: not self.left()), self.left()


@contextlib.contextmanager
def host_untouched() -> Iterator[None]:
    """Skips where there can be no labs; at the end of the block, this machine is as before."""
    need_labs()
    before = host_facts()
    yield
    assert host_facts() == before
