"""The roles of a file transfer's parameters, and how a published setting maps to a space.

The papers tune concurrency (concurrent files), parallelism (streams per file) and pipelining
(commands sent ahead). A space may have all of them, some, or only streams, whose number is
concurrency × parallelism.
"""

from enum import StrEnum
from typing import Final

from advisor.domain.space import AUTOMATIC, Parameter, Setting, Space
from advisor.domain.transfers import Levels


class Role(StrEnum):
    """The role of a parameter."""

    CONCURRENCY = "concurrency"
    PARALLELISM = "parallelism"
    PIPELINING = "pipelining"
    STREAMS = "streams"
    BUFFER = "buffer"
    OTHER = "other"


_ROLES: Final = {
    "cc": Role.CONCURRENCY,
    "nc": Role.CONCURRENCY,
    "concurrency": Role.CONCURRENCY,
    "p": Role.PARALLELISM,
    "np": Role.PARALLELISM,
    "parallelism": Role.PARALLELISM,
    "pp": Role.PIPELINING,
    "pipelining": Role.PIPELINING,
    "streams": Role.STREAMS,
    "buffer_bytes": Role.BUFFER,
}


def role_of(parameter: Parameter) -> Role:
    """The role of a parameter, by its name."""
    return _ROLES.get(parameter.name.lower(), Role.OTHER)


GLOBUS_LARGE_FILES: Final = Levels(concurrency=2, parallelism=8)
"""The levels that Globus transfer uses for large files (Balaprakash et al. 2016, section IV)."""


_SENT_AHEAD: Final = 2
"""The least level of pipelining that sends a command ahead."""


def pipelining_level(value: int) -> int:
    """The level of pipelining of a parameter's value, as published: at least 1.

    The automatic value leaves it to the tool how many commands are sent ahead: it is a level of 2,
    the first one at which any is. The reverse of `setting_of`.
    """
    return _SENT_AHEAD if value == AUTOMATIC else max(1, value)


def _wanted(parameter: Parameter, levels: Levels) -> int:
    match role_of(parameter):
        case Role.CONCURRENCY:
            return levels.concurrency
        case Role.PARALLELISM:
            return levels.parallelism
        case Role.PIPELINING:
            # A choice: with commands sent ahead, or without.
            return AUTOMATIC if parameter.automatic and levels.pipelining > 1 else levels.pipelining
        case Role.STREAMS:
            return levels.concurrency * levels.parallelism
        case Role.BUFFER:
            # An unset buffer is left to the kernel, which grows it up to its limit.
            return AUTOMATIC if parameter.automatic else parameter.upper
        case Role.OTHER:
            return parameter.lower


def setting_of(space: Space, levels: Levels) -> Setting:
    """The setting of the space nearest to a published one.

    An unpublished parameter has the value of an untuned program: a buffer the kernel's own or its
    upper bound, anything else its lower. It has no more flows than the space may have.
    """
    values = {p.name: p.nearest(_wanted(p, levels)) for p in space.parameters}
    return space.bounded(values | space.fixed)


def in_order(space: Space, *roles: Role) -> list[Parameter]:
    """The parameters with these roles, in the order of the roles."""
    return [p for role in roles for p in space.parameters if role_of(p) is role]
