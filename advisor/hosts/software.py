"""Which of the programs and libraries that the advisor uses are on this host."""

import shutil
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from advisor.hosts.libraries import libiperf_version, libudt_version


class Software(msgspec.Struct, frozen=True, kw_only=True):
    """`found` is a version or a path, None if missing; `remedy` then says how to install it."""

    name: str
    purpose: str
    found: str | None
    remedy: str


_Known = tuple[str, str, Callable[[], str | None], str]
_KNOWN: Final[tuple[_Known, ...]] = (
    ("libiperf", "profile TCP", libiperf_version, "apt-get install libiperf0"),
    ("libudt", "profile UDT", libudt_version, "apt-get install libudt0"),
    ("ssh", "reach the other side", partial(shutil.which, "ssh"), "apt-get install openssh-client"),
    (
        "globus-url-copy",
        "transfer with GridFTP",
        partial(shutil.which, "globus-url-copy"),
        "apt-get install globus-gass-copy-progs",
    ),
    (
        "xdd",
        "transfer with xdd",
        partial(shutil.which, "xdd"),
        "Debian has no package: build it from https://github.com/bws/xdd",
    ),
    ("fio", "measure disks", partial(shutil.which, "fio"), "apt-get install fio"),
    ("ip", "make the hosts of a lab", partial(shutil.which, "ip"), "apt-get install iproute2"),
    (
        "cc",
        "compile the emulator of a lab",
        partial(shutil.which, "cc"),
        "apt-get install gcc libc6-dev",
    ),
)


def software() -> list[Software]:
    """All of them, installed or not."""
    return [
        Software(name=name, purpose=purpose, found=found, remedy="" if found else remedy)
        for name, purpose, look, remedy in _KNOWN
        for found in [look()]
    ]


def can_run_tcp(found: list[Software]) -> bool:
    """Whether the requirements for profiling TCP are met."""
    return any(one.name == "libiperf" and one.found for one in found)
