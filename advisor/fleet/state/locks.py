"""Advisory locks of the database: whoever holds one keeps others out, and loses it by dying.

They belong to the connection. `Fleet.holds` names what a measurement holds; a resource that several
may use has a lock for each of them. They are taken in the order of that list, and all given up when
one is not free, so that two workers cannot wait for each other.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from advisor.fleet.plan.fleet import Fleet, Resource
from advisor.fleet.state.connecting import DatabaseConnection

_ATTEMPTS: Final = 1_718_379_877
"""The class of the locks of attempts; see fleet_take_back in migrations/0002.sql."""
_MOST: Final = 2_147_483_647


def _number(name: str) -> int:
    """The number of a lock, in the 64 bits of a bigint."""
    digest = hashlib.sha256(f"advisor fleet {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _take_one(connection: DatabaseConnection, name: str) -> bool:
    row = connection.execute(
        "SELECT pg_catalog.pg_try_advisory_lock(%s)", (_number(name),)
    ).fetchone()
    return bool(row and row[0])


def take_all(
    connection: DatabaseConnection, fleet: Fleet, source: int, destination: int
) -> str | None:
    """Take what measuring a pair holds; the name of the first that is not free, and then none is
    held. For a connection that holds no other locks."""
    resources = {f"resource {one.name}": one for one in fleet.resources}
    for name in fleet.holds(source, destination):
        if not any(_take_one(connection, one) for one in _places(name, resources.get(name))):
            free_all(connection)
            return name
    return None


def _places(name: str, resource: Resource | None) -> Sequence[str]:
    if resource is None:
        return [name]
    return [f"{name} place {number}" for number in range(resource.at_once)]


def mark(connection: DatabaseConnection, attempt: int) -> None:
    """Show that the worker of an attempt is alive, as long as the connection is."""
    connection.execute("SELECT pg_catalog.pg_advisory_lock(%s, %s)", (_ATTEMPTS, attempt % _MOST))


def free_all(connection: DatabaseConnection) -> None:
    """Give up all locks of the connection."""
    connection.execute("SELECT pg_catalog.pg_advisory_unlock_all()")
