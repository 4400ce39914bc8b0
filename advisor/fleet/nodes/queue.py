"""The queue of a transfer over several nodes, in the database: its lots, and who has which.

A lot is a number here; what is in it is known to the coordinator alone. It draws for its nodes, so
that they need no account of the database. A lease is numbered: what was moved under a lease that
somebody else has by now does not count.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec
import psycopg
from psycopg import errors as pg

from advisor.domain.endpoints import Pair
from advisor.domain.plan import NodeProgress
from advisor.domain.problem import ProblemKind
from advisor.fleet.state.connecting import DatabaseConnection, connect
from advisor.fleet.state.limited import LimitedConnection
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address
from advisor.store.postgres.answers import NOT_NOW, server_words
from advisor.store.postgres.limiting import NoAnswer
from advisor.transfer.nodes.messages import LEASE_S, RENEW_S

_R = TypeVar("_R")
_MOST_LOTS: Final = 200
_ADDED_AT_ONCE: Final = 50_000
_LAST_WORD_S: Final = 1.0


class QueueAway(StoreError):
    """The database does not answer now; the message is one sentence."""

    kind = ProblemKind.UNREACHABLE


class Begun(msgspec.Struct, frozen=True):
    """A transfer in the database. `wait_s`: how long nodes of an earlier run may still write."""

    transfer: int
    wait_s: float


class LotQueue:
    """The queue of one transfer. It reconnects by itself; every method raises QueueAway while the
    database does not answer, and StoreError where it refuses.

    A database that ends may have done what it was asked before its answer was lost: what has to be
    reported once can be reported again.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: LimitedConnection | None = None
        self._given_up = 0
        self._one_at_a_time = asyncio.Lock()
        self._transfer = 0
        self._unanswered: set[int] = set()

    async def begin(self, key: str, pair: Pair, sizes: Sequence[int]) -> float:
        """Begin a run of a transfer of these lots, numbered from 1; returns how long to wait.

        `key`: the same for each run, 64 hexadecimal digits.
        """
        begun = await self._do(lambda connection: _begin(connection, key, pair, sizes))
        self._transfer = begun.transfer
        return begun.wait_s

    async def add(self, number: int, size_bytes: int, without: Sequence[int]) -> None:
        """One more lot, which these nodes are not given."""

        def added(connection: DatabaseConnection) -> None:
            with contextlib.suppress(pg.UniqueViolation):  # It was added without an answer.
                connection.execute(
                    "SELECT advisor.transfer_add(%s, %s, %s::bigint[], %s::integer[])",
                    (self._transfer, number, [size_bytes], list(without)),
                )

        await self._do(added)

    async def draw(
        self, node: int, wanted_bytes: int, held: Sequence[int], most: int = _MOST_LOTS
    ) -> dict[int, int]:
        """The next lots for a node and the lease of each; empty where there is none for it.

        `held`: the leases of all nodes that are alive: these are renewed first, so that none of
        their lots is drawn.
        """

        def drawn(connection: DatabaseConnection) -> dict[int, int]:
            with connection.transaction():
                _renew(connection, self._transfer, held)
                rows = connection.execute(
                    "SELECT lot, its_lease FROM advisor.transfer_draw(%s, %s, %s, %s, %s)",
                    (self._transfer, node, wanted_bytes, most, LEASE_S),
                )
                return {int(lot): int(lease) for lot, lease in rows}

        return await self._do(drawn)

    async def renew(self, held: Sequence[int]) -> None:
        """These leases are still in use, and the transfer runs."""
        await self._do(lambda connection: _renew(connection, self._transfer, held))

    async def stay_seen(self) -> None:
        """Forever: report that the transfer runs, once it has begun, also while no node does.

        A report that the database does not take now is followed by the next.
        """
        while True:
            await asyncio.sleep(RENEW_S)
            if self._transfer:
                with contextlib.suppress(StoreError):
                    await self.renew([])

    async def done(self, lots: Mapping[int, int]) -> set[int]:
        """These lots have arrived under these leases; returns those that are accepted.

        The lease 0 stands for a lot that nobody is to move any more.
        """
        try:
            accepted = await self._accepted(lots)
            # These are gone if they were accepted without an answer. If they are there, nobody is
            # to move them any more.
            again = self._unanswered & (lots.keys() - accepted)
            if again:
                await self._accepted(dict.fromkeys(again, 0))
        except QueueAway:
            self._unanswered |= lots.keys()
            raise
        self._unanswered -= lots.keys()
        return accepted | again

    async def _accepted(self, lots: Mapping[int, int]) -> set[int]:
        rows = await self._do(
            lambda connection: connection.execute(
                "SELECT lot FROM advisor.transfer_done(%s, %s::integer[], %s::bigint[])",
                (self._transfer, list(lots), list(lots.values())),
            ).fetchall()
        )
        return {int(row[0]) for row in rows}

    async def give_back(self, leases: Sequence[int]) -> None:
        """A node that had these leases has ended for certain: others may have its lots."""
        await self._do(
            lambda connection: connection.execute(
                "SELECT advisor.transfer_give_back(%s, %s::bigint[])",
                (self._transfer, list(leases)),
            )
        )

    async def show(self, nodes: Sequence[NodeProgress]) -> None:
        """How the nodes do, for others to see."""

        def shown(connection: DatabaseConnection) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(
                    "SELECT advisor.transfer_node(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                    [(self._transfer, *_row(one)) for one in nodes],
                )

        await self._do(shown)

    async def end(self, message: str) -> None:
        """The run has ended; `message` says how."""
        await self._do(
            lambda connection: connection.execute(
                "SELECT advisor.transfer_end(%s, %s)", (self._transfer, message)
            )
        )

    async def close(self) -> None:
        """Close the connection, if there is one."""
        async with self._one_at_a_time:
            self._disconnect()

    async def _do(self, work: Callable[[DatabaseConnection], _R]) -> _R:
        async with self._one_at_a_time:
            asking = asyncio.ensure_future(asyncio.to_thread(self._done, work))
            try:
                return await asyncio.shield(asking)
            except asyncio.CancelledError:
                await self._give_up(asking)
                raise

    async def _give_up(self, asking: asyncio.Future[_R]) -> None:
        """Nobody wants the answer any more: let one that is on its way come, and wait for no other.

        The next question has a connection of its own.
        """
        await asyncio.wait([asking], timeout=_LAST_WORD_S)
        if not asking.done():
            self._given_up += 1
            self._disconnect()
            await asyncio.wait([asking], timeout=_LAST_WORD_S)
        asking.add_done_callback(lambda asked: asked.cancelled() or asked.exception())

    def _done(self, work: Callable[[DatabaseConnection], _R]) -> _R:
        connection, given_up = self._connection, self._given_up
        try:
            if connection is None:
                connection = connect(self._address)
                if given_up != self._given_up:
                    connection.close()
                    raise NoAnswer(_LAST_WORD_S)
                self._connection = connection
            return work(connection)
        except pg.InsufficientPrivilege as error:
            raise StoreError(
                f"the database refuses this account: {server_words(error)}",
                kind=ProblemKind.NO_ACCESS,
                remedy="ask its owner for the role advisor_writer",
            ) from None
        except NOT_NOW as error:
            if given_up == self._given_up:
                self._disconnect()
            raise QueueAway(f"{self._address} does not answer: {server_words(error)}") from None
        except psycopg.Error as error:
            raise StoreError(
                f"the database refuses: {server_words(error)}", remedy="report it"
            ) from None

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                self._connection.close()
        self._connection = None


def _begin(connection: DatabaseConnection, key: str, pair: Pair, sizes: Sequence[int]) -> Begun:
    with connection.transaction():
        row = connection.execute(
            "SELECT made, wait_s FROM advisor.transfer_begin(%s, %s, %s, %s, %s)",
            (key, pair.source, pair.destination, sum(sizes), LEASE_S),
        ).fetchone()
        assert row is not None
        for first in range(0, len(sizes), _ADDED_AT_ONCE):
            connection.execute(
                "SELECT advisor.transfer_add(%s, %s, %s::bigint[], '{}')",
                (row[0], first + 1, list(sizes[first : first + _ADDED_AT_ONCE])),
            )
    return Begun(int(row[0]), float(row[1]))


def _renew(connection: DatabaseConnection, transfer: int, leases: Sequence[int]) -> None:
    connection.execute(
        "SELECT advisor.transfer_renew(%s, %s::bigint[], %s)", (transfer, list(leases), LEASE_S)
    )


def _row(one: NodeProgress) -> tuple[object, ...]:
    return (
        one.number,
        one.pair.source,
        one.pair.destination,
        one.state,
        one.moved_bytes,
        one.rate_bps,
        one.clients,
        one.parallelism,
        one.message,
    )
