"""Past transfers in columns: the training data of HARP's optimiser (HARP 2018, section 3.2.1)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from advisor.domain.transfers import Conditions, PastTransfer
from advisor.models.file_classes import BELOW_BDP

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CLASS_BOUNDS: Final = [share for share in BELOW_BDP.values() if share < math.inf]


FEATURES: Final = ("bandwidth", "RTT", "BDP / buffer", "file class", "file size", "file count")
"""The features that conditions are compared by, in the order of the columns of `features`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class History:
    """Past transfers, one per row. `nan` where a figure is not known.

    `features`: as in FEATURES; the class is 0 for tiny to 3 for large files. `levels`: concurrency,
    parallelism, pipelining. `network`: index into `networks`.
    """

    bandwidth_bps: Floats
    rtt_s: Floats
    buffer_bytes: Floats
    file_bytes: Floats
    file_count: Floats
    levels: Floats
    throughput_bps: Floats
    when_s: Floats
    network: Indices
    networks: Sequence[str]

    @classmethod
    def of(cls, entries: Iterable[PastTransfer]) -> "History":
        """The columns of these transfers, in the same order."""
        if isinstance(entries, Archive):
            return entries.history
        rows, networks = [], dict[str, int]()
        for entry in entries:
            found, levels = entry.conditions, entry.levels
            rows.append(
                (
                    found.bandwidth_bps,
                    found.rtt_s,
                    found.buffer_bytes,
                    found.file_bytes,
                    found.file_count,
                    entry.throughput_bps,
                    entry.when_s,
                    levels.concurrency,
                    levels.parallelism,
                    levels.pipelining,
                    networks.setdefault(found.network, len(networks)),
                )
            )
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 11)
        return cls(
            bandwidth_bps=table[:, 0],
            rtt_s=table[:, 1],
            buffer_bytes=table[:, 2],
            file_bytes=table[:, 3],
            file_count=table[:, 4],
            throughput_bps=table[:, 5],
            when_s=table[:, 6],
            levels=table[:, 7:10],
            network=table[:, 10].astype(np.intp),
            networks=list(networks),
        )

    def __len__(self) -> int:
        return len(self.throughput_bps)

    @cached_property
    def features(self) -> Floats:
        """One row per transfer, one column per feature."""
        return _features(
            self.bandwidth_bps, self.rtt_s, self.buffer_bytes, self.file_bytes, self.file_count
        )


class Archive(Sequence[PastTransfer]):
    """Past transfers that many searches learn from; converted into columns once."""

    def __init__(self, transfers: Iterable[PastTransfer]) -> None:
        self._transfers = tuple(transfers)

    def __len__(self) -> int:
        return len(self._transfers)

    @overload
    def __getitem__(self, place: int) -> PastTransfer: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[PastTransfer]: ...

    def __getitem__(self, place: int | slice) -> PastTransfer | Sequence[PastTransfer]:
        return self._transfers[place]

    @cached_property
    def history(self) -> History:
        """Their columns."""
        return History.of(self._transfers)


def features_of(wanted: Conditions) -> Floats:
    """The features of one transfer."""
    figures = (
        wanted.bandwidth_bps,
        wanted.rtt_s,
        wanted.buffer_bytes,
        wanted.file_bytes,
        wanted.file_count,
    )
    row: Floats = _features(*(np.array([one], dtype=np.float64) for one in figures))[0]
    return row


def _features(
    bandwidth_bps: Floats,
    rtt_s: Floats,
    buffer_bytes: Floats,
    file_bytes: Floats,
    file_count: Floats,
) -> Floats:
    bdp_bytes = bandwidth_bps * rtt_s / 8
    file_class = np.searchsorted(_CLASS_BOUNDS, file_bytes / bdp_bytes, side="right")
    return np.column_stack(
        (
            bandwidth_bps,
            rtt_s,
            bdp_bytes / buffer_bytes,
            np.where(np.isnan(bdp_bytes), np.nan, file_class),
            file_bytes,
            file_count,
        )
    )
