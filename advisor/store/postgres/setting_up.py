"""Sets a shared history up in a database, as its owner."""

from collections.abc import Callable
from typing import Any

import psycopg

from advisor.domain.printable import printable
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address
from advisor.store.postgres.schema import set_up

_CONNECT_LIMIT_S = 10
_Connection = psycopg.Connection[Any]


def set_up_database(address: Address, and_then: Callable[[_Connection], None]) -> list[int]:
    """Make roles and schema, or bring them up to date; return the versions that were missing.

    `and_then`: what else is set up, in the same transaction.

    Raises StoreError if that is not possible; then nothing is changed.
    """
    try:
        with psycopg.connect(
            address.uri, connect_timeout=_CONNECT_LIMIT_S, application_name="advisor"
        ) as connection:
            missing = set_up(connection)
            and_then(connection)
            return missing
    except psycopg.Error as error:
        words = printable(" ".join(str(error).split()))
        raise StoreError(
            f"{address} cannot be set up: {words}",
            remedy="the database must exist, and this account own it or be allowed to create "
            "roles and schemas in it",
        ) from None
