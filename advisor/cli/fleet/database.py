"""The database of a fleet, as `--store` names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from advisor.cli.errors import UsageError
from advisor.cli.history.lookup import store_errors
from advisor.store.history import Store
from advisor.store.postgres.address import Address, is_address

if TYPE_CHECKING:
    from advisor.fleet.state.connecting import DatabaseConnection


def address_of(store: Store) -> Address:
    """The address of a shared history. Raises UsageError for a folder."""
    if not is_address(store.argument):
        raise UsageError(
            f"--store {store.argument}: workers of a fleet meet in a database",
            remedy="give --store postgresql://HOST/DATABASE, or name it in the configuration",
        )
    return Address.parse(store.argument)


@contextmanager
def database(store: Store, needs: str) -> "Iterator[DatabaseConnection]":
    """A connection for a block, whose errors end the command. `needs`: the role for it."""
    address = address_of(store)
    from advisor.fleet.state.connecting import connected

    with store_errors(), connected(address, needs) as connection:
        yield connection
