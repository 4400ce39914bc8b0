"""The repeats of a recorded table in arrays, as they are sent to a worker."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.backtest.repeats import Cell, Repeat

_Array: TypeAlias = NDArray[Any]


class PackedRepeats(Mapping[Cell, Sequence[Repeat]]):
    """The repeats of each cell, made when they are asked for.

    A table has a thousand of them, of which a search needs a few; to send and read a thousand
    small objects takes longer than the search.
    """

    def __init__(self, cells: _Array, lengths: Sequence[int], numbers: _Array) -> None:
        """`cells`: a row for each. `lengths`: how many repeats each has. `numbers`: a row for each
        repeat, cell by cell: its rate and its duration."""
        self._cells, self._lengths, self._numbers = cells, lengths, numbers

    @classmethod
    def of(cls, repeats: Mapping[Cell, Sequence[Repeat]]) -> "PackedRepeats":
        """The same repeats."""
        if isinstance(repeats, PackedRepeats):
            return repeats
        every = [one for of_cell in repeats.values() for one in of_cell]
        lengths = [len(of_cell) for of_cell in repeats.values()]
        return cls(np.array(list(repeats), dtype=np.int64), lengths, np.array(every, dtype=float))

    def __reduce__(self) -> tuple[Any, ...]:
        sizes = self._cells.shape[1]
        return _unpacked, (sizes, self._cells.tobytes(), self._lengths, self._numbers.tobytes())

    @cached_property
    def _rows(self) -> dict[Cell, slice]:
        ends = pairwise(accumulate(self._lengths, initial=0))
        cells = map(tuple, self._cells.tolist())
        return {cell: slice(*end) for cell, end in zip(cells, ends, strict=True)}

    def __getitem__(self, cell: Cell) -> Sequence[Repeat]:
        return [Repeat(*one) for one in self._numbers[self._rows[cell]].tolist()]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _unpacked(
    parameters: int, cells: bytes, lengths: Sequence[int], numbers: bytes
) -> PackedRepeats:
    return PackedRepeats(
        np.frombuffer(cells, dtype=np.int64).reshape(-1, parameters),
        lengths,
        np.frombuffer(numbers, dtype=float).reshape(-1, len(Repeat._fields)),
    )
