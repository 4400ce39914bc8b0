"""A recorded table: the throughputs of every setting of a space, repeat by repeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from advisor.backtest.packed_repeats import PackedRepeats
from advisor.backtest.repeats import Cell, Repeat
from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting, Space
from advisor.domain.transfers import PastTransfer
from advisor.methods.api import Knowledge, PastSurface
from advisor.models.harp.entries import Archive
from advisor.traits import flow_names


@dataclass(frozen=True, kw_only=True)
class RecordedTable:
    """One condition: a pair, a path and a kind of dataset, at many settings.

    `source`: the file or other origin; tables of one source are held out together when methods
    learn from others. `repeats`: at least one per cell, in order of time; at least one cell.
    `truth_bps`: the true mean of each cell, where it is known by construction. `transfers`: each
    repeat separately, as searches on other tables may learn from it; empty where no file transfers
    were recorded.
    """

    name: str
    source: str
    space: Space
    repeats: Mapping[Cell, Sequence[Repeat]]
    path: PathFacts | None = None
    bandwidth_bps: float | None = None
    dataset: Dataset | None = None
    truth_bps: Mapping[Cell, float] | None = None
    transfers: Sequence[PastTransfer] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Its fields, without what is worked out from them, and with the repeats packed."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return own | {"repeats": self._packed}

    @cached_property
    def _packed(self) -> PackedRepeats:
        return PackedRepeats.of(self.repeats)

    @cached_property
    def cells(self) -> list[Cell]:
        """All recorded cells."""
        return list(self.repeats)

    @cached_property
    def rates_bps(self) -> Mapping[Cell, float]:
        """The rate of each cell: the truth, else the median of its repeats.

        The median, because single repeats are occasionally off by a factor of ten.
        """
        if self.truth_bps is not None:
            return self.truth_bps
        return {
            cell: float(np.median([one.throughput_bps for one in repeats]))
            for cell, repeats in self.repeats.items()
        }

    @cached_property
    def best_cell(self) -> Cell:
        """The cell with the highest rate."""
        return max(self.cells, key=self.rates_bps.__getitem__)

    @cached_property
    def _octaves(self) -> NDArray[np.float64]:
        octaves: NDArray[np.float64] = np.log2(np.array(self.cells, dtype=float))
        return octaves

    @cached_property
    def _nearest(self) -> dict[Cell, Cell]:
        return {cell: cell for cell in self.cells}

    def nearest(self, setting: Mapping[str, object]) -> Cell:
        """The recorded cell nearest to a setting, by distance in log2."""
        asked = tuple(int(float(str(setting[p.name]))) for p in self.space.parameters)
        if asked not in self._nearest:
            off = self._octaves - np.log2(np.maximum(np.array(asked, dtype=float), 1.0))
            self._nearest[asked] = self.cells[int((off**2).sum(axis=1).argmin())]
        return self._nearest[asked]

    def setting(self, cell: Cell) -> Setting:
        """The setting of a cell."""
        names = (p.name for p in self.space.parameters)
        return dict(zip(names, cell, strict=True)) | self.space.fixed

    def fraction(self, cell: Cell) -> float:
        """The rate of a cell as a fraction of the best cell's; 0 where no cell has a throughput."""
        best_bps = self.rates_bps[self.best_cell]
        return self.rates_bps[cell] / best_bps if best_bps > 0 else 0.0

    def knowledge(self, history: Sequence["RecordedTable"] = ()) -> Knowledge:
        """The prior knowledge of a method; `history`: tables it may learn from."""
        return Knowledge(
            path=self.path,
            bandwidth_bps=self.bandwidth_bps,
            dataset=self.dataset,
            surfaces=tuple(one.surface() for one in history if self._comparable(one)),
            transfers=Archive(transfer for one in history for transfer in one.transfers),
            flow_names=flow_names(),
        )

    def _comparable(self, other: "RecordedTable") -> bool:
        names = {p.name for p in self.space.parameters}
        return other is not self and names == {p.name for p in other.space.parameters}

    def surface(self) -> PastSurface:
        """The table as a search under other conditions sees it."""
        dataset = self.dataset
        return PastSurface(
            settings=[self.setting(cell) for cell in self.cells],
            rates_bps=[self.rates_bps[cell] for cell in self.cells],
            repeats=[len(self.repeats[cell]) for cell in self.cells],
            file_bytes=dataset.total_bytes / dataset.files if dataset and dataset.files else None,
        )
