"""Connections to the database of a fleet, which end soon when it does not answer any more."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import errors as pg

from advisor.domain.problem import ProblemKind
from advisor.fleet.state.limited import LimitedConnection
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address
from advisor.store.postgres.answers import NOT_NOW, server_words
from advisor.store.postgres.limiting import within_limit
from advisor.store.postgres.schema import require_schema

DatabaseConnection: TypeAlias = psycopg.Connection[Any]

ANSWER_LIMIT_S: Final = 10.0
"""How long one statement may take, and how long a dead network is not noticed."""

CONNECTING_LIMIT_S: Final = 30.0
"""How long connecting may take, however many addresses there are."""

_IDLE_LIMIT_S: Final = 30.0
"""How long a transaction, with its locks, may wait for its client, which may have been stopped."""

_PROBED_AFTER_S: Final = 20
_PROBED_EVERY_S: Final = 5
_PROBES: Final = 4
_CUT_OFF_S: Final = _PROBED_AFTER_S + _PROBED_EVERY_S * _PROBES
"""After this the server gives up a client whose host or network is gone, with its locks. By itself
it would do so after two hours."""


def connect(address: Address) -> LimitedConnection:
    """A connection to a history with the schema of this program, committing each statement.

    No answer of it is waited for longer than UNHEARD_S. Raises StoreError for another schema,
    psycopg.Error if it cannot be reached.
    """
    late = threading.Event()

    def connected_in_time() -> LimitedConnection:
        connection = _connected(address)
        if late.is_set():
            connection.close()
        return connection

    return within_limit(connected_in_time, CONNECTING_LIMIT_S, late.set)


def _connected(address: Address) -> LimitedConnection:
    connection = LimitedConnection.connect(
        address.uri,
        autocommit=True,
        application_name="advisor fleet",
        connect_timeout=round(ANSWER_LIMIT_S),
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=round(ANSWER_LIMIT_S * 1000),
    )
    try:
        require_schema(connection, ANSWER_LIMIT_S)
        _bound_silence(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _bound_silence(connection: DatabaseConnection) -> None:
    """From now on the server ends the connection soon after this host has stalled or is cut off.

    Others wait for its locks. On a socket of the same host the settings of TCP change nothing.
    """
    settings = {
        "idle_in_transaction_session_timeout": round(_IDLE_LIMIT_S * 1000),
        "tcp_keepalives_idle": _PROBED_AFTER_S,
        "tcp_keepalives_interval": _PROBED_EVERY_S,
        "tcp_keepalives_count": _PROBES,
        "tcp_user_timeout": _CUT_OFF_S * 1000,
    }
    connection.execute(
        "SELECT pg_catalog.set_config(name, value, false)"
        " FROM unnest(%s::text[], %s::text[]) AS given (name, value)",
        (list(settings), [str(value) for value in settings.values()]),
    )


@contextlib.contextmanager
def explained(address: Address, needs: str) -> Iterator[None]:
    """Turn an error of the database into a StoreError. `needs`: the role for what is done."""
    try:
        yield
    except pg.InsufficientPrivilege as error:
        raise StoreError(
            f"the database refuses this account: {server_words(error)}",
            kind=ProblemKind.NO_ACCESS,
            remedy=f"ask its owner for the role {needs}",
        ) from None
    except NOT_NOW as error:
        raise StoreError(
            f"{address} cannot be reached: {server_words(error)}", kind=ProblemKind.UNREACHABLE
        ) from None
    except psycopg.Error as error:
        raise StoreError(
            f"the database refuses: {server_words(error)}", remedy="report it"
        ) from None


@contextlib.contextmanager
def connected(address: Address, needs: str = "advisor_reader") -> Iterator[DatabaseConnection]:
    """A connection for a block, whose errors are StoreErrors. `needs`: the role for the block."""
    with explained(address, needs), contextlib.closing(connect(address)) as connection:
        yield connection
