"""What the screens of a fleet read from its database. Each call may take seconds."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from advisor.fleet.state import reading
from advisor.fleet.state.followed import FollowedPairs
from advisor.fleet.state.rows import Attempt
from advisor.fleet.state.standing import FleetStanding, PairStanding, pairs_of, standing_of
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address, is_address

if TYPE_CHECKING:
    from advisor.fleet.state.connecting import DatabaseConnection

_MOST_ATTEMPTS: Final = 200


class FleetView(msgspec.Struct, frozen=True):
    """A fleet at one moment: the whole, its tasks by name, and all their pairs."""

    standing: FleetStanding
    tasks: list[str]
    pairs: list[PairStanding]


def fleet_view(store: str, followed: FollowedPairs | None = None) -> FleetView:
    """The fleet of this history. Raises StoreError with a sentence, also for a folder.

    `followed`: what earlier looks have read of its pairs.
    """
    with _connected(store) as connection:
        state = reading.fleet_state(connection, followed)
        workers = reading.workers(connection, state.now_s)
    tasks = [task.name for task in state.applied.fleet.tasks]
    pairs = list(pairs_of(state))
    return FleetView(standing_of(state, workers, pairs), tasks, pairs)


def attempts(store: str, pair: PairStanding) -> list[Attempt]:
    """The newest measurements of a pair, the newest first. Raises StoreError as above."""
    with _connected(store) as connection:
        return reading.attempts_of(
            connection, pair.task, pair.source, pair.destination, _MOST_ATTEMPTS
        )


@contextmanager
def _connected(store: str) -> Iterator["DatabaseConnection"]:
    if not is_address(store):
        raise StoreError(
            "a fleet is kept in a database, and this history is a folder",
            remedy='name one in the configuration: store = "postgresql://HOST/DATABASE"',
        )
    from advisor.fleet.state.connecting import connected

    with connected(Address.parse(store)) as connection:
        yield connection
