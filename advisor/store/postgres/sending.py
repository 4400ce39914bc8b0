"""Records on their way into a shared history: at once, or by the spool if it is not reached."""

import math
import time
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

from advisor.domain.endpoints import Pair
from advisor.domain.problem import ProblemKind
from advisor.store.errors import StoreError
from advisor.store.postgres.database import Database, Unreachable, refused_account
from advisor.store.postgres.queries import append, may_append
from advisor.store.postgres.rows import columns_of
from advisor.store.postgres.spool import Spool, Waiting

_AT_ONCE: Final = 500
_REFUSED: Final = -1
_ADDED: Final = 1


class Sent(NamedTuple):
    """What became of records: `waiting` are in the spool, `refused` belong to others' sessions."""

    added: int
    waiting: int
    refused: int


class Sender:
    """Stores records in the history, in order, or else in the spool."""

    def __init__(self, database: Database, spool: Spool) -> None:
        self._database = database
        self._spool = spool

    def store(self, pair: Pair, records: Sequence[Waiting]) -> Sent:
        """Store records of one pair; each is in the history or on this disk when this returns.

        Raises StoreFull and StoreError if neither is possible.
        """
        for one in records:
            columns_of([(one.record, one.only_new)])  # What is acknowledged must be readable.
        if not self._nothing_waits():
            return self._spooled(records, 0, 0)
        added = refused = 0
        for first in range(0, len(records), _AT_ONCE):
            try:
                outcome = self._append(pair, records[first : first + _AT_ONCE])
            except Unreachable:
                return self._spooled(records[first:], added, refused)
            added += outcome.count(_ADDED)
            refused += outcome.count(_REFUSED)
        return Sent(added, 0, refused)

    def check_access(self) -> None:
        """Raises StoreError if a record could not be stored now, here or there."""
        try:
            allowed = self._database.ask(may_append)
        except Unreachable:
            self._spool.make()
            return
        if not allowed:
            raise refused_account("it may not add records")

    def send_waiting(self, most_s: float = math.inf) -> Sent:
        """Send what waits in the spool, as far as the history takes it now, for about `most_s`.

        Killed at any time, nothing is lost and nothing is stored twice. Raises StoreError, and
        Unreachable when nothing could be sent.
        """
        lock = self._spool.sending()
        if lock is None:
            return Sent(0, len(self._spool), 0)
        try:
            return self._send_waiting(time.monotonic() + most_s)
        finally:
            lock.release()

    def _send_waiting(self, until_s: float) -> Sent:
        done: list[int] = []
        refused: list[Waiting] = []
        added = 0
        try:
            for pair, group in groupby(self._spool.all(), key=lambda one: one[1].record.pair):
                waiting = list(group)
                for first in range(0, len(waiting), _AT_ONCE):
                    if time.monotonic() > until_s:
                        break
                    batch = waiting[first : first + _AT_ONCE]
                    outcome = self._append_each(pair, [one for _, one in batch])
                    done += [number for number, _ in batch]
                    added += outcome.count(_ADDED)
                    refused += [
                        one
                        for (_, one), result in zip(batch, outcome, strict=True)
                        if result == _REFUSED
                    ]
        except Unreachable:
            if not done:
                raise
        finally:
            self._spool.remove(done, refused)
        return Sent(added, len(self._spool), len(refused))

    def _nothing_waits(self) -> bool:
        """Whether the history has all that came before, so that the order is kept."""
        if not len(self._spool):
            return True
        try:
            return not self.send_waiting(self._database.limit_s).waiting
        except Unreachable:
            return False

    def _spooled(self, records: Sequence[Waiting], added: int, refused: int) -> Sent:
        self._spool.add(records)
        return Sent(added, len(records), refused)

    def _append_each(self, pair: Pair, records: Sequence[Waiting]) -> list[int]:
        """As `_append`; a record that the database cannot take is refused alone."""
        try:
            return self._append(pair, records)
        except StoreError as error:
            kept_back = (ProblemKind.UNREACHABLE, ProblemKind.NO_ACCESS, ProblemKind.UNSUPPORTED)
            if error.problem.kind in (*kept_back, ProblemKind.MISSING):
                raise
            if len(records) == 1:
                return [_REFUSED]
        return [self._append_each(pair, [one])[0] for one in records]

    def _append(self, pair: Pair, records: Sequence[Waiting]) -> list[int]:
        columns = columns_of((one.record, one.only_new) for one in records)
        return self._database.ask(partial(append, pair=pair, columns=columns))
