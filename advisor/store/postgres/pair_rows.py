"""The records of pairs as far as they were read, and what was added to them since."""

from collections.abc import Iterator
from functools import partial

from advisor.domain.endpoints import Pair
from advisor.domain.records import Record
from advisor.store.postgres.database import Database
from advisor.store.postgres.local_copy import LocalCopy
from advisor.store.postgres.queries import next_rows
from advisor.store.postgres.rows import Reader, Row, is_left_out, mark_of, record_of


class _Known:
    """The rows of one pair up to `number`: its records, and how many rows are none."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.skipped = 0
        self.number = 0
        self.mark = b""

    def add(self, pair: Pair, row: Row, reader: Reader) -> None:
        if not is_left_out(row, reader):
            record = record_of(row, pair, reader)
            if record is None:
                self.skipped += 1
            else:
                self.records.append(record)
        self.number, self.mark = row.number, mark_of(row)


class PairRows:
    """The records of pairs: what was read once is not read again, and is kept in `copy`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[Pair, _Known] = {}

    def known(self, pair: Pair, copy: LocalCopy, reader: Reader) -> tuple[list[Record], int]:
        """The records that are known on this host, and the number of unusable rows."""
        known = self._known.get(pair) or self._from_copy(pair, copy, reader)
        return list(known.records), known.skipped

    def update(self, pair: Pair, copy: LocalCopy, reader: Reader) -> None:
        """Read what was added. Raises Unreachable; what came until then is known."""
        known = self._known.get(pair) or self._from_copy(pair, copy, reader)
        fresh: list[Row] = []
        try:
            for row in rows_after(self._database, pair, known.number, known.mark):
                if row is None:
                    # Another history is at this address, or this one was restored.
                    copy.forget(pair)
                    known = self._known[pair] = _Known()
                    continue
                known.add(pair, row, reader)
                fresh.append(row)
        finally:
            if fresh:
                copy.add(pair, fresh)

    def _from_copy(self, pair: Pair, copy: LocalCopy, reader: Reader) -> _Known:
        known = self._known[pair] = _Known()
        for row in copy.rows(pair):
            known.add(pair, row, reader)
        return known


def rows_after(database: Database, pair: Pair, number: int, mark: bytes) -> Iterator[Row | None]:
    """The rows of a pair after the one with `number` and `mark`, in order; all with 0.

    None says that this one is not there: all rows follow. Raises Unreachable.
    """
    first = 1
    if number:
        rows = database.ask(partial(next_rows, pair=pair, first=number))
        if rows and mark_of(rows[0]) == mark:
            yield from rows[1:]
            if len(rows) == 1:
                return
            first = rows[-1].number + 1
        else:
            yield None
    while rows := database.ask(partial(next_rows, pair=pair, first=first)):
        yield from rows
        first = rows[-1].number + 1
