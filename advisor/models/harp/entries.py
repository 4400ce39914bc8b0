"""Past transfers in columns: what HARP's optimiser learns from (HARP 2018, section 3.2.1)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from advisor.models.file_classes import BELOW_BDP
from advisor.models.transfer_parameters import Levels

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CLASS_BOUNDS: Final = [share for share in BELOW_BDP.values() if share < math.inf]


class Conditions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a transfer finds: its path and its files. None where a figure is not known.

    `file_bytes`: mean size of the files. `bandwidth_bps`: of the link. `buffer_bytes`: the most a
    socket gets. All figures are above zero. `network`: whatever tells paths apart that have the
    same figures, as the names of the hosts.
    """

    file_bytes: float
    file_count: int | None = None
    bandwidth_bps: float | None = None
    rtt_s: float | None = None
    buffer_bytes: float | None = None
    network: str = ""

    def __post_init__(self) -> None:
        for name in ("file_bytes", "file_count", "bandwidth_bps", "rtt_s", "buffer_bytes"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} is {value:g}: give a figure above zero, or none")


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One past transfer. `throughput_bps` is above zero; `when_s` is Unix time, if it is known."""

    conditions: Conditions
    levels: Levels
    throughput_bps: float
    when_s: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.throughput_bps < math.inf:
            raise ValueError(
                f"throughput_bps is {self.throughput_bps:g}: leave out transfers that failed"
            )
        if min(self.levels.concurrency, self.levels.parallelism, self.levels.pipelining) < 1:
            raise ValueError("a level is below 1: count pipelining from 1, which sends none ahead")


FEATURES: Final = ("bandwidth", "RTT", "BDP / buffer", "file class", "file size", "file count")
"""What conditions are compared by, in the order of the columns of `features`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class History:
    """Past transfers, one per row. `nan` where a figure is not known.

    `features`: as FEATURES; the class is 0 for tiny to 3 for large files. `levels`: concurrency,
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
    def of(cls, entries: Iterable[Entry]) -> "History":
        """The columns of these transfers, in their order."""
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
