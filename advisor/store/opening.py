"""Opens a history by the value of --store: a folder, or the address of a database."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from advisor.domain.printable import printable
from advisor.domain.problem import ProblemKind
from advisor.store.backend import Backend
from advisor.store.errors import StoreError, explaining
from advisor.store.journal_backend import JournalBackend
from advisor.store.passing_on import PASSED_ON
from advisor.store.postgres.address import Address, is_address
from advisor.store.postgres.rows import Takes

_SCHEME: Final = re.compile("[a-z][a-z0-9+.-]*://", re.IGNORECASE)

if TYPE_CHECKING:
    from advisor.store.postgres.backend import PostgresBackend


def open_backend(text: str) -> Backend:
    """The history that is named so; nothing is read yet, and no connection made.

    Raises StoreError for a file, for a folder that cannot be reached, and for an address that
    cannot be used or is of something else.
    """
    if is_address(text):
        return open_shared(text)
    folder = _folder(text)
    with explaining(folder, "read"):
        is_file = folder.exists() and not folder.is_dir()
    if is_file:
        raise StoreError(f"{folder} is a file", kind=ProblemKind.INVALID, remedy="name a folder")
    return JournalBackend(folder)


def _folder(text: str) -> Path:
    """Raises StoreError for an address."""
    if _SCHEME.match(text):
        raise StoreError(
            f"'{printable(text)}' is neither a folder nor a database that can keep a history",
            kind=ProblemKind.INVALID,
            remedy="name a folder, or write postgresql://HOST/DATABASE",
        )
    return Path(text)


def require_history(text: str) -> None:
    """Raises StoreError for a folder that does not exist; a database is not asked.

    Also for what is neither.
    """
    if is_address(text) or text == PASSED_ON:
        return
    folder = _folder(text)
    with explaining(folder, "read"):
        there = folder.exists()
    if not there:
        raise StoreError(
            f"there is no history at {folder}",
            kind=ProblemKind.MISSING,
            remedy="name the folder or the address of one",
        )


def open_shared(
    text: str, limit_s: float | None = None, takes: Takes = "without orders"
) -> "PostgresBackend":
    """The shared history at an address. `limit_s`: how long each answer is waited for.
    `takes`: what is taken of other users.

    Raises StoreError for an address that cannot be used, and without the client of PostgreSQL.
    """
    address = Address.parse(text)
    require_client()
    from advisor.store.postgres.backend import PostgresBackend

    if limit_s is None:
        return PostgresBackend(address)
    return PostgresBackend(address, limit_s, takes=takes)


def require_client() -> None:
    """Raises StoreError if the client of PostgreSQL is not installed."""
    try:
        import advisor.store.postgres.database  # noqa: F401 -- to see whether that is possible
    except ImportError as error:
        raise StoreError(
            f"a history in PostgreSQL needs psycopg ({error})",
            kind=ProblemKind.MISSING,
            remedy="install the extra fleet: pip install 'data-transfer-advisor[fleet]'",
        ) from None
