"""Refused entries of files, by reason: needs no more space for a million bad lines than for one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from advisor.store.importers.entries import BadEntry

_FIRST: Final = 3
_MOST_REASONS: Final = 20


class _Reason:
    __slots__ = ("count", "first")

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []


class RefusedEntries:
    """Counts bad entries of each file by reason, and remembers the places of the first ones."""

    def __init__(self) -> None:
        self.total = 0
        self._reasons: dict[Path, dict[str, _Reason]] = {}
        self._further: dict[Path, int] = {}

    def add(self, path: Path, entry: BadEntry) -> None:
        """Add a refused entry of a file."""
        self.total += entry.count
        reasons = self._reasons.setdefault(path, {})
        if entry.why not in reasons and len(reasons) == _MOST_REASONS:
            self._further[path] = self._further.get(path, 0) + entry.count
            return
        reason = reasons.setdefault(entry.why, _Reason())
        reason.count += entry.count
        if entry.place and len(reason.first) < _FIRST:
            reason.first.append(entry.place)

    def lines(self) -> Iterator[str]:
        """One per file and reason; reasons beyond the limit are summed up."""
        for path, reasons in self._reasons.items():
            for why, reason in reasons.items():
                yield f"{path}{_places(reason)}: {why}"
            if path in self._further:
                yield f"{path}: {self._further[path]} more, for other reasons"


def _places(reason: _Reason) -> str:
    """The places of the entries, after a comma."""
    further = reason.count - len(reason.first)
    if not reason.first:
        return f", {further} times" if further > 1 else ""
    places = f", {', '.join(reason.first)}"
    return f"{places} and {further} more" if further else places
