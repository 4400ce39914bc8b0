"""What every kind of plugin may tell about itself beyond its interface."""

from collections.abc import Callable

import msgspec


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """A program or library that a plugin uses on this host, as `advisor doctor` lists it.

    `purpose`: what it is for, as in "to …". `find`: its version or path, None where it is missing.
    `remedy`: the command or step that installs it.
    """

    name: str
    purpose: str
    find: Callable[[], str | None]
    remedy: str


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin tells in its attribute `traits`; one without it has the defaults.

    `former_names`: earlier names, which stored records, saved states, configuration and the command
    line may still use. `requirements`: None for what `available()` tells.
    """

    former_names: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] | None = None
