"""How this host installs what the program needs of it: with apt or dnf, by `/etc/os-release`."""

import pkgutil
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from advisor.domain.availability import AVAILABLE, Availability

Manager = Literal["apt", "dnf"]

_OS_RELEASE: Final = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
_MOST_BYTES: Final = 64 * 1024
_TABLE: Final = "packages.txt"
_APT: Final = frozenset({"debian", "ubuntu"})
_DNF: Final = frozenset({"fedora", "rhel", "centos", "rocky", "almalinux", "ol"})
_WITHOUT_EPEL: Final = "fedora"
_UBUNTU: Final = "ubuntu"


class System(NamedTuple):
    """`manager`: what installs packages, None where it is not known.

    `needs_epel`: some packages are in EPEL, which has to be enabled. `is_ubuntu`: some have other
    names than in Debian.
    """

    manager: Manager | None
    needs_epel: bool = False
    is_ubuntu: bool = False


class Installation(NamedTuple):
    """How something is installed: the `command` for root, or else a `remedy` in words."""

    command: str
    remedy: str


class _Package(NamedTuple):
    apt: list[str]
    dnf: list[str]
    is_in_epel: bool
    ubuntu: list[str]

    def names(self, system: System) -> list[str]:
        if system.manager == "dnf":
            return self.dnf
        return self.ubuntu if system.is_ubuntu else self.apt


def installation(*needs: str, on: System | None = None) -> Installation:
    """How these are installed on this host, or on another system. `needs`: words of the table."""
    system = on or this_system()
    packages = [_table()[need] for need in needs]
    if system.manager is None:
        words = (
            f"{need} ({' '.join(package.apt)} in Debian, {' '.join(package.dnf)} in Fedora)"
            for need, package in zip(needs, packages, strict=True)
        )
        return Installation("", f"install {', '.join(words)}")
    names = list(dict.fromkeys(name for one in packages for name in one.names(system)))
    if system.manager == "apt":
        return Installation(f"apt-get install {' '.join(names)}", "")
    from_epel = system.needs_epel and any(one.is_in_epel for one in packages)
    before = "dnf install epel-release && " if from_epel else ""
    return Installation(f"{before}dnf install {' '.join(names)}", "")


def install_line(*needs: str) -> str:
    """The command for root that installs these on this host, or a clause where none is known."""
    return "".join(installation(*needs))


def program_available(program: str, *, reason: str = "", remedy: str = "") -> Availability:
    """Whether it is on the search path.

    `reason`, `remedy`: what is said where it is not; by default, that it is not installed, and the
    line that installs it.
    """
    if shutil.which(program):
        return AVAILABLE
    reason = reason or f"{program} is not installed"
    return Availability(reason=reason, remedy=remedy or install_line(program))


@cache
def this_system() -> System:
    """What this host's `/etc/os-release` says."""
    for path in _OS_RELEASE:
        try:
            if path.is_file():
                with path.open("rb") as file:
                    return system_of(file.read(_MOST_BYTES))
        except OSError:
            continue
    return System(None)


def system_of(os_release: bytes) -> System:
    """The system of such a file: its ID decides, else its ID_LIKE. Of the text nothing is kept."""
    said = dict(_assignments(os_release.decode("ascii", "replace")))
    for name in (*said.get("ID", [])[:1], *said.get("ID_LIKE", [])):
        if name in _APT:
            return System("apt", is_ubuntu=_UBUNTU in said.get("ID", []) + said.get("ID_LIKE", []))
        if name in _DNF:
            return System("dnf", needs_epel=said.get("ID", [])[:1] != [_WITHOUT_EPEL])
    return System(None)


def _assignments(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in text.splitlines():
        key, _, value = line.strip().partition("=")
        yield key, value.strip("\"'").lower().split()


@cache
def _table() -> dict[str, _Package]:
    # Also from the archive of a pushed agent, in which there are no files.
    lines = (pkgutil.get_data(__package__, _TABLE) or b"").decode().splitlines()
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {need: _package(*names) for need, *names in rows}


def _package(apt: str, dnf: str, where: str = "-", ubuntu: str = "") -> _Package:
    return _Package(apt.split(","), dnf.split(","), where == "epel", (ubuntu or apt).split(","))
