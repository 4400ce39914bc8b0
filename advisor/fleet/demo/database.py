"""The database of a demonstration: a shared history with accounts, and a fleet in force."""

from typing import Final

from advisor.fleet.state.changing import apply
from advisor.fleet.state.connecting import connected
from advisor.fleet.work import queue
from advisor.store.postgres.address import Address
from advisor.store.postgres.own_server import OWNER, OwnServer
from advisor.store.postgres.setting_up import set_up_database

_DATABASE: Final = "fleet"
OPERATOR: Final = "operator"
WORKER: Final = "worker"
READER: Final = "reader"
_ROLES: Final = {
    OPERATOR: "advisor_operator",
    WORKER: "advisor_writer",
    READER: "advisor_reader",
}


def address_of(server: OwnServer, user: str) -> Address:
    """The address of the fleet's database as an account has it."""
    return Address.parse(server.address(user, _DATABASE))


def set_up(server: OwnServer, description: str) -> None:
    """Make the database and its accounts, and put the description into force.

    Raises StoreError, psycopg.Error.
    """
    server.execute("postgres", f"CREATE DATABASE {_DATABASE}")
    set_up_database(address_of(server, OWNER), queue.set_up)
    server.execute(
        _DATABASE,
        *(f"CREATE ROLE {user} LOGIN IN ROLE {role}" for user, role in _ROLES.items()),
    )
    with connected(address_of(server, OPERATOR), _ROLES[OPERATOR]) as connection:
        apply(connection, description)
