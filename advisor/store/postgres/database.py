"""One connection to a shared history, which nobody waits for longer than a time limit."""

import contextlib
import time
import weakref
from collections.abc import Callable
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors as pg

from advisor.domain.problem import ProblemKind
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address
from advisor.store.postgres.answers import NOT_NOW, server_words
from advisor.store.postgres.limiting import shut_down, within_limit
from advisor.store.postgres.schema import Identity, require_schema

ANSWER_LIMIT_S: Final = 2.0
"""How long an answer is waited for, so that no advice waits for a database."""
_PAUSE_S: Final = 30.0
"""After a failure the database is not asked for this long."""

_T = TypeVar("_T")
_Connection = psycopg.Connection[Any]


class Unreachable(StoreError):
    """The database did not answer in time, or cannot serve now."""

    kind = ProblemKind.UNREACHABLE


def refused_account(why: str) -> StoreError:
    """The error for an account that may not do what it wants."""
    return StoreError(
        f"the shared history refuses this account: {why}",
        kind=ProblemKind.NO_ACCESS,
        remedy="ask its operator for the role advisor_reader, or advisor_writer to measure as well",
    )


class _Reach:
    """What all threads of a process know about whether the database answers."""

    def __init__(self) -> None:
        self.silent_until_s = 0.0
        self.why = ""
        self.missed = 0


class Database:
    """The database at `address`. Not for two threads at once; `another` is for another thread.

    `limit_s`: how long each answer is waited for.
    """

    def __init__(
        self, address: Address, limit_s: float = ANSWER_LIMIT_S, reach: _Reach | None = None
    ) -> None:
        self.address = address
        self.limit_s = limit_s
        self.identity = Identity()
        self._reach = reach or _Reach()
        # The one connection, if there is one: a list, so that it ends with this object.
        self._opened: list[_Connection] = []
        weakref.finalize(self, _close_all, self._opened)
        self._round = 0

    @property
    def trouble(self) -> str:
        """Why it was not reached the last time; "" when it was."""
        return self._reach.why

    @property
    def missed(self) -> int:
        """How often it was not reached so far, also when it was not even tried."""
        return self._reach.missed

    def another(self) -> "Database":
        """One more connection."""
        return Database(self.address, self.limit_s, self._reach)

    def ask(self, work: Callable[[_Connection], _T]) -> _T:
        """What `work` returns, which is one statement.

        Raises Unreachable after the time limit, and at once for a while after that; StoreError if
        the database refuses.
        """
        if time.monotonic() < self._reach.silent_until_s:
            self._reach.missed += 1
            raise Unreachable(self._reach.why)
        try:
            return self._within_limit(work)
        except NOT_NOW as error:
            raise self._failed(server_words(error)) from None
        except pg.InsufficientPrivilege as error:
            raise refused_account(server_words(error)) from None
        except psycopg.Error as error:
            raise StoreError(
                f"the shared history refuses: {server_words(error)}", remedy="report it"
            ) from None

    def close(self) -> None:
        """End the connection."""
        _close_all(self._opened)

    def _within_limit(self, work: Callable[[_Connection], _T]) -> _T:
        mine = self._round = self._round + 1
        try:
            answer = within_limit(lambda: self._answer(work, mine), self.limit_s, self._abandon)
        except NOT_NOW:
            self.close()
            raise
        self._reach.why = ""
        return answer

    def _answer(self, work: Callable[[_Connection], _T], mine: int) -> _T:
        """Each piece of work is one statement, which is a transaction of its own."""
        if self._opened:
            connection = self._opened[0]
            try:
                return work(connection)
            except psycopg.OperationalError:
                if mine != self._round:
                    connection.close()
                if not connection.closed or mine != self._round:
                    raise
            # The server was started again since the last time. Whether it did the work does not
            # matter: what it stored it does not store again.
            self.close()
        return work(self._connected(mine))

    def _connected(self, mine: int) -> _Connection:
        connection = psycopg.connect(
            self.address.uri, autocommit=True, application_name="advisor", connect_timeout=60
        )
        try:
            identity = require_schema(connection, self.limit_s)
            if mine != self._round:
                raise psycopg.OperationalError("too late: nobody waits for it any more")
        except BaseException:
            connection.close()
            raise
        self._opened.append(connection)
        self.identity = identity
        return connection

    def _abandon(self) -> None:
        """Wake up the thread that waits, and forget the connection: it may be in any state."""
        self._round += 1
        while self._opened:
            shut_down(self._opened.pop())

    def _failed(self, why: str) -> Unreachable:
        self._reach.missed += 1
        self._reach.silent_until_s = time.monotonic() + _PAUSE_S
        self._reach.why = f"{self.address} cannot be reached: {why}"
        return Unreachable(self._reach.why)


def _close_all(opened: list[_Connection]) -> None:
    while opened:
        with contextlib.suppress(psycopg.Error):
            opened.pop().close()
