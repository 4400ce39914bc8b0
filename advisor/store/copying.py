"""Copies one history into another, whichever way they are kept."""

from collections.abc import Callable

from advisor.store.backend import Backend

_AT_ONCE = 5000


def copy_history(
    source: Backend, target: Backend, report: Callable[[int, int], None] = lambda done, added: None
) -> tuple[int, int]:
    """Add to `target` what `source` has; the records of it, and how many were new there.

    Repeating it adds nothing, and after an interruption it adds the rest. `report` gets both
    numbers from time to time. Records that this version cannot read are not copied, nor are the
    events of sessions. Raises StoreError.
    """
    done = added = 0
    for pair in source.pairs():
        records, _ = source.read(pair)
        for first in range(0, len(records), _AT_ONCE):
            batch = records[first : first + _AT_ONCE]
            added += target.append_missing(pair, batch)
            done += len(batch)
            report(done, added)
    return done, added
