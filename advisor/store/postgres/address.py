"""The address of a shared history, as it is typed: postgresql://HOST/DATABASE."""

import hashlib
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from advisor.domain.printable import printable
from advisor.domain.problem import ProblemKind
from advisor.store.errors import StoreError

_SCHEMES: Final = ("postgresql://", "postgres://")
_SECRETS: Final = ("password", "sslpassword")


def is_address(text: str) -> bool:
    """Whether it is meant as an address, not as a folder."""
    return text.startswith(_SCHEMES)


class Address(msgspec.Struct, frozen=True):
    """A connection URI of libpq, without a secret in it."""

    uri: str

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Raises StoreError for a URI that has a password in it, or is none."""
        try:
            parts = urlsplit(text)
            secret = parts.password is not None
            names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
        except ValueError as error:
            raise StoreError(
                f"'{printable(text)}' is no address of a database: {error}",
                kind=ProblemKind.INVALID,
                remedy="write postgresql://HOST/DATABASE",
            ) from None
        if secret or any(name in _SECRETS for name in names):
            # Not repeated in the message: it may go into a log.
            raise StoreError(
                "a password in the address of the history can be read in the list of processes",
                kind=ProblemKind.INVALID,
                remedy="put it into ~/.pgpass (mode 0600), or name a service of "
                "~/.pg_service.conf: postgresql:///?service=NAME",
            )
        return cls(text)

    @property
    def key(self) -> str:
        """A name for local folders that belong to it."""
        return hashlib.sha256(self.uri.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return printable(self.uri)
