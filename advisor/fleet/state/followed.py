"""The pairs of a fleet for who looks again and again: what was read is kept, and changes are read.

A row of a pair changes when a measurement ends, and then has the time of that, by the clock of the
database, as its `last_s`, `failed_s` or `gave_way_s`.
"""

import threading
from typing import TYPE_CHECKING, Final

from advisor.fleet.state import rows

# Its library is there only where a fleet is used.
if TYPE_CHECKING:
    from advisor.fleet.state.connecting import DatabaseConnection

_OPEN_S: Final = 60.0
"""Longer than from the time that a row is given until it is visible to others."""

_ALL_AGAIN_S: Final = 600.0
"""How long what was not written by a measurement is not noticed: a clock that was set back, a
database that was restored."""


class FollowedPairs:
    """What is known of the pairs of one database. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pairs: dict[int, rows.PairState] = {}
        self._newest_s = 0.0
        self._all_read_s = float("-inf")

    def read(self, connection: "DatabaseConnection", now_s: float) -> list[rows.PairState]:
        """Those that can be used, in the order in which they came. `now_s`: of the database."""
        with self._lock:
            if not self._newest_s - _OPEN_S <= now_s < self._all_read_s + _ALL_AGAIN_S:
                self._pairs, self._newest_s, self._all_read_s = {}, 0.0, now_s
            self._read_since(connection, self._newest_s - _OPEN_S)
            # Rows from before the clock was set back are read each time, and hide none.
            self._newest_s = min(self._newest_s, now_s)
            return list(self._pairs.values())

    def _read_since(self, connection: "DatabaseConnection", since_s: float) -> None:
        columns = list(rows.PairState.__struct_fields__)
        found = connection.execute(
            f"SELECT id, {', '.join(columns)} FROM advisor.fleet_pairs"
            " WHERE greatest(last_s, failed_s, gave_way_s, 0) >= %s ORDER BY id",
            (since_s,),
        )
        known = len(self._pairs)
        for number, *row in found:
            one: rows.PairState | None = rows.row_as(rows.PairState, columns, tuple(row))
            if one is None:
                self._pairs.pop(number, None)
                continue
            self._pairs[number] = one
            times_s = one.last_s, one.failed_s, one.gave_way_s
            self._newest_s = max(self._newest_s, *(at_s or 0.0 for at_s in times_s))
        if known and len(self._pairs) != known:
            # Numbers are given before rows are visible: a later one may have been seen first.
            self._pairs = dict(sorted(self._pairs.items()))
