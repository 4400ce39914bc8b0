"""Rules for moving a dataset class by class, the ones HARP is compared with (2018, section 4).

- Globus divides files at 50 MB and 250 MB and has "predefined values" for each; HARP names the
  three sizes, the values are those of Allen et al. (CACM 55:2, 2012), HARP's reference 26:
  concurrency 2, and parallelism 2, 4 and 8, pipelining 20, 10 and 5 from the smallest files to the
  largest.
- Single Chunk computes the levels for each class and moves one class after another.
- ProMC has Single Chunk's parallelism and pipelining, moves all classes together, and divides all
  its allowed channels among them.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from advisor.domain.plan import Order
from advisor.domain.transfers import Levels
from advisor.models.file_classes import FileClass, Size, SizeGroup, classify, size_of
from advisor.models.piecework import LEAST_RANGE_BYTES
from advisor.models.slicing import FileEntry
from advisor.models.transfer_heuristics import levels_of, share_channels

PAPERS_CHANNELS: Final = 10
"""The maximum concurrency that HARP's section 4 allows Single Chunk and ProMC; not HARP itself."""

HARPS_CHANNELS: Final = 32
"""The highest concurrency of HARP's history and of its optimiser's box (sections 3.2.2 and 4.1)."""


class Rule(StrEnum):
    """The rules that a plan follows."""

    HARP = "harp"
    GLOBUS = "globus"
    SINGLE_CHUNK = "single-chunk"
    PROMC = "promc"

    @property
    def order(self) -> Order:
        """Whether classes are moved together."""
        is_together = self in (Rule.HARP, Rule.PROMC)
        return "together" if is_together else "one after the other"

    @property
    def channels(self) -> int:
        """The maximum concurrency where the user sets none."""
        return HARPS_CHANNELS if self is Rule.HARP else PAPERS_CHANNELS


_GLOBUS: Final = (
    (50e6, Levels(concurrency=2, parallelism=2, pipelining=20)),
    (250e6, Levels(concurrency=2, parallelism=4, pipelining=10)),
    (math.inf, Levels(concurrency=2, parallelism=8, pipelining=5)),
)
_GLOBUS_SIZES: Final = (Size.SMALL, Size.MEDIUM, Size.LARGE)


class SizedFiles(msgspec.Struct, frozen=True):
    """The files of one class. `whole`: the tool cannot move ranges of them."""

    size: Size
    files: Sequence[FileEntry]
    whole: bool = False

    @property
    def total_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def most_channels(self) -> int:
        """How many channels can work on it at the same time: large files are cut into ranges."""
        if self.whole:
            return len(self.files)
        return sum(max(1, file.size_bytes // LEAST_RANGE_BYTES) for file in self.files)

    def as_class(self, bdp_bytes: float) -> FileClass:
        """The description of the class, under its name."""
        sizes = [file.size_bytes for file in self.files]
        group = SizeGroup(
            files=len(sizes),
            total_bytes=sum(sizes),
            smallest_bytes=min(sizes),
            largest_bytes=max(sizes),
        )
        [described] = classify([group], bdp_bytes)
        return msgspec.structs.replace(described, size=self.size)


def parted(
    files: Sequence[FileEntry], bdp_bytes: float, rule: Rule, *, whole: bool = False
) -> list[SizedFiles]:
    """The classes that have files, from the smallest to the largest. `bdp_bytes`: above zero.

    By size relative to the BDP, but for Globus by its own two thresholds.
    """
    found: dict[Size, list[FileEntry]] = {size: [] for size in Size}
    for file in files:
        if rule is Rule.GLOBUS:
            size = _globus_size(file.size_bytes)
        else:
            size = size_of(file.size_bytes, bdp_bytes)
        found[size].append(file)
    return [SizedFiles(size, some, whole) for size, some in found.items() if some]


def _globus_size(size_bytes: int) -> Size:
    below = (below_bytes for below_bytes, _ in _GLOBUS)
    return next(s for s, most in zip(_GLOBUS_SIZES, below, strict=True) if size_bytes < most)


def rule_levels(
    rule: Rule,
    classes: Sequence[SizedFiles],
    bdp_bytes: float,
    buffer_bytes: float | None,
    limits: "LevelLimits",
) -> list[Levels]:
    """The levels of each class by a rule that does not use past transfers.

    For HARP the levels of its samples: Single Chunk's (lines 6 and 7 of algorithm 1).
    `buffer_bytes` None: one stream may hold the whole BDP.
    """
    if rule is Rule.GLOBUS:
        by_size = dict(zip(_GLOBUS_SIZES, (levels for _, levels in _GLOBUS), strict=True))
        return [limits.of(by_size[one.size], one) for one in classes]
    described = [one.as_class(bdp_bytes) for one in classes]
    levels = [
        limits.of(levels_of(of, bdp_bytes, buffer_bytes or bdp_bytes, limits.channels), one)
        for of, one in zip(described, classes, strict=True)
    ]
    if rule is not Rule.PROMC:
        return levels
    shares = shared(classes, {one.size: one.total_bytes for one in classes}, bdp_bytes, limits)
    return [
        msgspec.structs.replace(one, concurrency=share)
        for one, share in zip(levels, shares, strict=True)
    ]


def shared(
    classes: Sequence[SizedFiles],
    left_bytes: Mapping[Size, int],
    bdp_bytes: float,
    limits: "LevelLimits",
) -> list[int]:
    """ProMC's channels for each class, by its remaining bytes.

    What a class has too few files and ranges for is shared among the others.
    """
    described = [
        msgspec.structs.replace(one.as_class(bdp_bytes), total_bytes=left_bytes[one.size])
        for one in classes
    ]
    channels = max(len(classes), limits.channels)
    most = [one.most_channels for one in classes]
    shares = [0] * len(classes)
    unfilled = list(range(len(classes)))
    while unfilled:
        offered = share_channels([described[i] for i in unfilled], channels)
        filled = [i for i, share in zip(unfilled, offered, strict=True) if share >= most[i]]
        for i, share in zip(unfilled, offered, strict=True):
            shares[i] = min(share, most[i])
        if not filled:
            break
        channels -= sum(shares[i] for i in filled)
        unfilled = [i for i in unfilled if i not in filled]
    return shares


class LevelLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The user's limits: total channels, and streams per channel.

    `whole_files`: the tool moves no ranges, so a file is one channel's.
    """

    channels: int = PAPERS_CHANNELS
    streams: int = 32
    whole_files: bool = False

    def of(self, levels: Levels, files: SizedFiles) -> Levels:
        """The levels within these limits and the number of files and ranges."""
        return msgspec.structs.replace(
            levels,
            concurrency=max(1, min(levels.concurrency, self.channels, files.most_channels)),
            parallelism=max(1, min(levels.parallelism, self.streams)),
        )
