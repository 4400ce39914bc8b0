"""The history of the bench of plans: twelve settings of each class, under two loads, measured."""

from collections.abc import Sequence

import numpy as np

from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.file_classes import Size
from advisor.models.planning import PAPERS_CHANNELS, Rule, SizedFiles, parted
from advisor.models.slicing import FileEntry
from advisor.models.transfer_heuristics import levels_of
from tests.benchmarks.plans.cases import FIRST, RATE_BPS, RTT_S
from tests.benchmarks.plans.results import Moved, Results
from tests.benchmarks.wan.hosts import ROOT

LOADS = ("light", "medium")
BDP_BYTES = RATE_BPS * RTT_S / 8


def moved() -> list[Moved]:
    """Every transfer that was recorded."""
    return Results(ROOT / "docs/benchmarks" / FIRST.file).moved


def past(one: Moved) -> PastTransfer:
    """A recorded transfer, as it is imported."""
    count, each = FIRST.history_files[one.size]
    conditions = Conditions(
        file_bytes=each,
        file_count=count,
        bandwidth_bps=RATE_BPS,
        rtt_s=RTT_S,
        buffer_bytes=2**22,
        network="source->far",
    )
    return PastTransfer(
        conditions=conditions,
        levels=Levels(concurrency=one.concurrency, parallelism=one.parallelism),
        throughput_bps=count * each * 8 / one.seconds,
        when_s=one.when_s,
    )


def entries(size: Size) -> list[FileEntry]:
    """The files of one class of the history."""
    count, each = FIRST.history_files[size]
    return [FileEntry(f"{size}/{number}", each, 0) for number in range(count)]


def by_rule(size: Size) -> Levels:
    """Single Chunk's levels for a class."""
    [files] = parted(entries(size), BDP_BYTES, Rule.HARP)
    assert isinstance(files, SizedFiles)
    return levels_of(files.as_class(BDP_BYTES), BDP_BYTES, BDP_BYTES, PAPERS_CHANNELS)


def nearest(grid: Sequence[PastTransfer], levels: Levels) -> PastTransfer:
    """The recorded transfer at the setting nearest to these levels, in octaves."""
    return min(
        grid,
        key=lambda one: (
            abs(np.log2(one.levels.concurrency / levels.concurrency))
            + abs(np.log2(one.levels.parallelism / levels.parallelism))
        ),
    )
