"""Which node moves what of a dataset, and what of that has arrived. Pure.

The dataset is cut into lots once: a range of a large file, or several small files. The queue hands
lots out by their numbers, this says what is in them. A node may report parts of a lot as they
arrive; what it has not reported when it dies is what the next one gets.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from advisor.domain.problem import ProblemError
from advisor.models.piecework import Piecework
from advisor.models.slicing import FileEntry, Part

_LOTS_OF_A_NODE: Final = 256
_LEAST_LOT_BYTES: Final = 4 * 2**20
_MOST_LOT_BYTES: Final = 2**30
_FILE_BYTES: Final = 64 * 2**10
"""What a file counts for beside its content: a lot has at most 16,000 files of no size."""


class NotLeased(ProblemError):
    """A node reported something that it was not given."""


def lots_of(work: Piecework, nodes: int) -> list[tuple[Part, ...]]:
    """Cut what is left of the work for this many nodes, with the same mix of sizes throughout."""
    wanted = work.left_bytes // (_LOTS_OF_A_NODE * max(1, nodes))
    wanted = min(_MOST_LOT_BYTES, max(_LEAST_LOT_BYTES, wanted))
    lots = []
    while batch := work.draw(wanted, nodes, _FILE_BYTES):
        lots.append(batch.parts)
    return lots


class Leases:
    """The lots by their numbers, from 1 on, and who has which."""

    def __init__(self, lots: Iterable[tuple[Part, ...]]) -> None:
        self._left: dict[int, list[Part]] = {n: list(lot) for n, lot in enumerate(lots, 1)}
        self._made = len(self._left)
        self._held: dict[int, dict[int, int]] = {}
        self._failed_at: dict[str, set[int]] = {}

    @property
    def sizes(self) -> list[int]:
        """The bytes of all lots, in order; for the queue, once."""
        return [_total(self._left[n]) for n in sorted(self._left)]

    def take(self, node: int, lots: Mapping[int, int]) -> list[Part]:
        """The node has these lots from now on, each under its lease; returns what is left of them.

        Whoever had one before has lost it.
        """
        for held in self._held.values():
            for number in lots.keys() & held.keys():
                del held[number]
        mine = self._held.setdefault(node, {})
        parts: list[Part] = []
        for number, lease in lots.items():
            if number in self._left:
                mine[number] = lease
                parts += self._left[number]
        return parts

    def held_by(self, node: int) -> dict[int, int]:
        """The leases of the lots that the node has, by number."""
        return dict(self._held.get(node, {}))

    def files_of(self, node: int) -> set[str]:
        """The names of the files of which the node has something to move."""
        return {part.file.name for n in self._held.get(node, {}) for part in self._left[n]}

    def lose(self, node: int) -> dict[int, int]:
        """The node has nothing any more; returns the leases of what it had."""
        return self._held.pop(node, {})

    def arrived(self, node: int, part: Part) -> dict[int, int]:
        """A part has arrived from a node; returns the leases of the lots that are now complete.

        Raises NotLeased if the node does not have all of it; then nothing has changed.
        """
        held = self._held.get(node, {})
        changed: dict[int, list[Part]] = {}
        found_bytes, was_found = 0, False
        for number in held:
            left = self._left[number]
            rest = [piece for one in left for piece in _without(one, part)]
            if rest != left:
                changed[number] = rest
                found_bytes += _total(left) - _total(rest)
                was_found = True
        if not was_found or found_bytes != part.size_bytes:
            raise NotLeased("it reports what it was not given")
        return self._replaced(held, changed)

    def failed(self, node: int, file: FileEntry) -> tuple[dict[int, int], int | None]:
        """A file could not be moved by this node.

        Returns the leases of lots that are complete without it, and the number of a new lot with
        what is left of it, None if the node has nothing of it.
        """
        held = self._held.get(node, {})
        changed, moved = {}, []
        for number in held:
            left = self._left[number]
            mine = [one for one in left if one.file == file]
            if mine:
                changed[number] = [one for one in left if one.file != file]
                moved += mine
        complete = self._replaced(held, changed)
        if not moved:
            return complete, None
        self._failed_at.setdefault(file.name, set()).add(node)
        self._made += 1
        self._left[self._made] = moved
        return complete, self._made

    def size_of(self, number: int) -> int:
        """The bytes that are left of a lot."""
        return _total(self._left.get(number, []))

    def failed_everywhere(self, nodes: set[int]) -> list[str]:
        """The names of the files of which something is left that none of these nodes could move."""
        found = [name for name, where in self._failed_at.items() if nodes <= where]
        if not found:
            return []
        left = {part.file.name for parts in self._left.values() for part in parts}
        return [name for name in found if name in left]

    def failed_in(self, number: int) -> set[int]:
        """The nodes that could not move what is in a lot."""
        parts = self._left.get(number, [])
        return set().union(*(self._failed_at.get(part.file.name, set()) for part in parts))

    def drop(self, file: FileEntry) -> dict[int, int]:
        """Nobody is to move this file; returns the leases, 0 for none, of lots thus complete."""
        self._failed_at.pop(file.name, None)
        leases = {n: lease for held in self._held.values() for n, lease in held.items()}
        complete = {}
        for number, left in list(self._left.items()):
            rest = [one for one in left if one.file != file]
            if len(rest) == len(left):
                continue
            self._left[number] = rest
            if not rest:
                complete[number] = leases.get(number, 0)
                self._forget(number)
        return complete

    def _replaced(
        self, held: Mapping[int, int], changed: Mapping[int, list[Part]]
    ) -> dict[int, int]:
        complete = {}
        for number, rest in changed.items():
            self._left[number] = rest
            if not rest:
                complete[number] = held[number]
        for number in complete:
            self._forget(number)
        return complete

    def _forget(self, number: int) -> None:
        del self._left[number]
        for held in self._held.values():
            held.pop(number, None)


def _total(parts: Iterable[Part]) -> int:
    return sum(part.size_bytes for part in parts)


def _without(part: Part, arrived: Part) -> list[Part]:
    """What is left of a part, once another part of the same version of a file has arrived."""
    if part.file != arrived.file:
        return [part]
    if not part.size_bytes:
        return []
    begin, end = part.offset_bytes, part.offset_bytes + part.size_bytes
    from_bytes = max(begin, arrived.offset_bytes)
    to_bytes = min(end, arrived.offset_bytes + arrived.size_bytes)
    if from_bytes >= to_bytes:
        return [part]
    before = Part(part.file, begin, from_bytes - begin)
    after = Part(part.file, to_bytes, end - to_bytes)
    return [one for one in (before, after) if one.size_bytes]
