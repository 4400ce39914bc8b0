"""Endpoints, and the pair of a source and a destination."""

import re
from typing import Annotated, Final

import msgspec

from advisor.domain.printable import SHOWN, fitting, printable

HOST_PATTERN: Final = r"^[A-Za-z0-9:]([A-Za-z0-9._:%-]{0,252}[A-Za-z0-9])?$"
_HOST: Final = re.compile(HOST_PATTERN)
_USER: Final = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9._+@\\-]{0,63}$")
LOCALHOST: Final = "localhost"
LAB_NAME: Final = re.compile(r"^[A-Za-z0-9][A-Za-z0-9-]{0,30}$")
_LAB: Final = "lab:"


def is_in_lab(host: str) -> bool:
    """Whether a name is of a lab's host, as in `lab:NAME`."""
    return host.startswith(_LAB)


class LabHost(msgspec.Struct, frozen=True):
    """A host of an emulated path on this machine: `lab:NAME`, or `lab:NAME:HOST` among several."""

    lab: str
    host: str | None = None

    @classmethod
    def parse(cls, text: str) -> "LabHost":
        """Raises ValueError with a message that says what is wrong."""
        lab, colon, host = text.removeprefix(_LAB).partition(":")
        if not LAB_NAME.fullmatch(lab) or (colon and not LAB_NAME.fullmatch(host)):
            raise ValueError(f"'{text}' is not a host of a lab: write lab:NAME or lab:NAME:HOST")
        return cls(lab, host or None)


class Endpoint(msgspec.Struct, frozen=True):
    """A host, and the user to reach it as.

    The host may be an alias of the user's ssh configuration, or `lab:NAME`.
    """

    host: str
    user: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Endpoint":
        """`HOST` or `USER@HOST`. Raises ValueError with a message that says what is wrong.

        A leading dash is refused: ssh would take it for an option.
        """
        user, at, host = text.strip().rpartition("@")
        if is_in_lab(host):
            LabHost.parse(host)
            if at:
                raise ValueError(f"'{text}': a lab has no users: write {host}")
        if not _HOST.fullmatch(host):
            raise ValueError(f"'{text}' is not a host: write HOST or USER@HOST")
        if at and not _USER.fullmatch(user):
            raise ValueError(f"'{user}' is not a user name: write USER@HOST")
        return cls(host, user or None)

    @property
    def is_local(self) -> bool:
        """Whether this is the machine the advisor itself runs on."""
        return self.host == LOCALHOST

    @property
    def lab_host(self) -> LabHost | None:
        """The lab host that is meant; None for a real host."""
        return LabHost.parse(self.host) if is_in_lab(self.host) else None

    def __str__(self) -> str:
        return f"{self.user}@{self.host}" if self.user else self.host


_PairName = Annotated[str, msgspec.Meta(min_length=1, max_length=255, pattern=SHOWN)]


class Pair(msgspec.Struct, frozen=True):
    """The source and destination of data as history identifies them: host names, no users.

    Other programs' names may contain anything that can be shown.
    """

    source: _PairName
    destination: _PairName

    def __str__(self) -> str:
        return f"{self.source}->{self.destination}"

    @classmethod
    def parse(cls, text: str) -> "Pair":
        """`SOURCE->DESTINATION`. Raises ValueError otherwise."""
        source, _, destination = text.partition("->")
        pair = cls.named(source.strip(), destination.strip())
        if pair is None:
            raise ValueError(f"'{printable(text)}' is not a pair: write 'SOURCE->DESTINATION'")
        return pair

    @classmethod
    def named(cls, source: str, destination: str) -> "Pair | None":
        """The pair of these names; None if one is empty, too long, or cannot be shown."""
        names = [fitting(name, _PairName) for name in (source, destination)]
        return cls(names[0], names[1]) if names[0] and names[1] else None
