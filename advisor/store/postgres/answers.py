"""What the database says when it does not do what it was asked."""

from typing import Final

import psycopg
from psycopg import errors as pg

from advisor.domain.printable import printable

NOT_NOW: Final = (
    psycopg.OperationalError,
    pg.ReadOnlySqlTransaction,
    pg.IdleInTransactionSessionTimeout,
    psycopg.InterfaceError,
)
"""It does not answer, or not now: a server that starts, stops, is full, or only follows another, or
has ended a connection whose client was silent."""


def server_words(error: psycopg.Error) -> str:
    """The server's words, on one line."""
    message = error.diag.message_primary or str(error) or type(error).__name__
    return printable(" ".join(message.split()))[:300]
