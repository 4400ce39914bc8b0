"""What the parameters of a file transfer are, and how a published setting fits into a space.

The papers tune concurrency (files at a time), parallelism (streams per file) and pipelining
(commands sent ahead). A space may have all of them, some, or only streams, of which there are
concurrency × parallelism.
"""

from enum import StrEnum
from typing import Final

from advisor.domain.space import Parameter, Setting, Space
from advisor.domain.transfers import Levels


class Role(StrEnum):
    """What a parameter is for."""

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
    """What a parameter is for, by its name."""
    return _ROLES.get(parameter.name.lower(), Role.OTHER)


GLOBUS_LARGE_FILES: Final = Levels(concurrency=2, parallelism=8)
"""What Globus transfer uses for large files (Balaprakash et al. 2016, section IV)."""


def _wanted(parameter: Parameter, levels: Levels) -> int:
    match role_of(parameter):
        case Role.CONCURRENCY:
            return levels.concurrency
        case Role.PARALLELISM:
            return levels.parallelism
        case Role.PIPELINING:
            return levels.pipelining
        case Role.STREAMS:
            return levels.concurrency * levels.parallelism
        case Role.BUFFER:
            # What is not set is left to the kernel, which goes as far up as it may.
            return parameter.upper
        case Role.OTHER:
            return parameter.lower


def setting_of(space: Space, levels: Levels) -> Setting:
    """The setting of the space nearest to a published one.

    A parameter that was not published is as if left alone: a buffer at its upper bound, anything
    else at its lower.
    """
    return {p.name: p.nearest(_wanted(p, levels)) for p in space.parameters} | space.fixed


def in_order(space: Space, *roles: Role) -> list[Parameter]:
    """The parameters that have these roles, in the order of the roles."""
    return [p for role in roles for p in space.parameters if role_of(p) is role]
