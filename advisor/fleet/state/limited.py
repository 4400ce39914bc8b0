"""Connections on which nobody waits forever, also for a database that hangs: the server's own limit
of a statement ends none then, and its host still answers for the connection.
"""

import asyncio
import threading
from typing import Any, Final

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.pq import TransactionStatus

from advisor.store.postgres.limiting import NoAnswer, shut_down

UNHEARD_S: Final = 15.0
"""How long an answer is waited for: longer than the server lets a statement take."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is lost when an answer takes too long. Raises NoAnswer then.

    `close` from another thread ends what is asked on it at once, which then fails.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._state = threading.Lock()
        self._is_asked = False
        self._is_closing = False

    @property
    def is_asked(self) -> bool:
        """Whether an answer is waited for."""
        return self._is_asked

    def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """As in the class above: all that waits for the server comes through here."""
        limit_s, is_late = UNHEARD_S, threading.Event()

        def end() -> None:
            is_late.set()
            shut_down(self)

        watch = threading.Timer(limit_s, end)
        watch.daemon = True
        self._is_asked = True
        watch.start()
        try:
            return super().wait(gen, *args, **kwargs)
        except psycopg.OperationalError:
            if is_late.is_set():
                raise NoAnswer(limit_s) from None
            raise
        finally:
            watch.cancel()
            with self._state:
                self._is_asked = False
                is_closing = self._is_closing
            if is_closing:
                super().close()

    def close(self) -> None:
        """Close it, at once."""
        with self._state:
            self._is_closing = is_asked = self._is_asked
        if is_asked:
            # Who waits closes it.
            shut_down(self)
        else:
            super().close()


class LimitedAsyncConnection(psycopg.AsyncConnection[Any]):
    """The same in an event loop. Notifications are waited for without a limit."""

    async def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """As in the class above: all that waits for the server comes through here."""
        watch = asyncio.get_running_loop().call_later(UNHEARD_S, self._end_if_asked)
        try:
            return await super().wait(gen, *args, **kwargs)
        finally:
            watch.cancel()

    def _end_if_asked(self) -> None:
        if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
            shut_down(self)
