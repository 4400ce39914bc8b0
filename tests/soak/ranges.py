"""Ranges of files: sent, and recorded as arrived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Range(NamedTuple):
    """From one byte up to another of the file of this name; of an empty file from 0 to 0."""

    name: str
    begin: int
    end: int


class Ranges:
    """What some ranges cover together."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        found: dict[str, list[tuple[int, int]]] = {}
        for one in ranges:
            found.setdefault(one.name, []).append((one.begin, one.end))
        self._by_name: Mapping[str, Sequence[tuple[int, int]]] = {
            name: list(_joined(sorted(stretches))) for name, stretches in found.items()
        }

    def __iter__(self) -> Iterator[Range]:
        for name, stretches in self._by_name.items():
            yield from (Range(name, *stretch) for stretch in stretches)

    @property
    def total_bytes(self) -> int:
        return sum(one.end - one.begin for one in self)

    def has(self, one: Range) -> bool:
        """Whether all of it is covered."""
        stretches = self._by_name.get(one.name, ())
        return any(begin <= one.begin and one.end <= end for begin, end in stretches)

    def meets(self, one: Range) -> bool:
        """Whether a byte of it is covered, or the empty file that it is."""
        stretches = self._by_name.get(one.name, ())
        if one.begin == one.end:
            return bool(stretches)
        return any(begin < one.end and one.begin < end for begin, end in stretches)


def _joined(stretches: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    begin, end = stretches[0]
    for next_begin, next_end in stretches[1:]:
        if next_begin > end:
            yield begin, end
            begin = next_begin
        end = max(end, next_end)
    yield begin, end
