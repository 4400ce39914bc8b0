"""The programs and libraries that the advisor and its plugins use, as found on this host."""

import shutil
from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from advisor import registry, traits
from advisor.domain.availability import Availability
from advisor.domain.traits import Requirement, Traits
from advisor.hosts.packages import install_line


class Software(msgspec.Struct, frozen=True, kw_only=True):
    """`found` is a version or a path, None if missing; `remedy` then says how to install it."""

    name: str
    purpose: str
    found: str | None
    remedy: str


def _program(name: str, purpose: str, remedy: str) -> Requirement:
    return Requirement(name=name, purpose=purpose, find=partial(shutil.which, name), remedy=remedy)


_TO_CONNECT: Final = (_program("ssh", "reach the other side", install_line("ssh")),)
_FOR_DISKS_AND_LABS: Final = (
    _program("fio", "measure disks", install_line("fio")),
    _program("ip", "create the hosts of a lab", install_line("ip")),
    _program("cc", "compile the emulator of a lab", install_line("compiler")),
)


def software() -> list[Software]:
    """All of them, installed or not: for transports, profiled tools, and the rest."""
    return [
        Software(
            name=one.name,
            purpose=one.purpose,
            found=found,
            remedy="" if found else one.remedy,
        )
        for one in _requirements()
        for found in [one.find()]
    ]


def can_run_tcp(found: list[Software]) -> bool:
    """Whether the requirements for profiling the reference transport are met."""
    name = traits.reference_transport()
    if not name:
        return False
    needed = {one.name for one in _of_transport(name)}
    return all(one.found for one in found if one.name in needed)


def _requirements() -> Iterator[Requirement]:
    for name in traits.transports():
        yield from _of_transport(name)
    yield from _TO_CONNECT
    for name in traits.profiled_tools():
        tool = registry.tool(name)
        yield from _of_plugin(
            name, traits.tool_traits(name), f"transfer with {name}", registry.availability(tool)
        )
    yield from _FOR_DISKS_AND_LABS


def _of_transport(name: str) -> tuple[Requirement, ...]:
    purpose = f"profile {traits.subject_name(name)}"
    available = registry.availability(registry.transport(name))
    return _of_plugin(name, traits.transport_traits(name), purpose, available)


def _of_plugin(
    name: str, stated: Traits, purpose: str, available: Availability
) -> tuple[Requirement, ...]:
    """The requirements that it states; without any, whether it can run."""
    if stated.requirements:
        return stated.requirements
    found = "ready" if available.ok else None
    remedy = available.remedy or available.reason
    return (Requirement(name=name, purpose=purpose, find=lambda: found, remedy=remedy),)
