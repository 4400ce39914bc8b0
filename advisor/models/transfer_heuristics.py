"""Settings computed from file sizes and path, as by the Single Chunk and ProMC algorithms.

HARP (Arslan and Kosar 2018) is compared with both and prints only the rule for pipelining:
BDP ÷ mean file size (section 3). The other rules are those of the authors' own client
(github.com/earslan10/AdaptiveGridFTPClient), of Arslan, Ross and Kosar (2013), for a class of
files with the mean size s on a path with the product BDP and socket buffers of B bytes, halves
rounded up:

- pipelining = round(BDP / s)
- parallelism = max(1, min(⌈BDP / B⌉, ⌈s / B⌉))
- concurrency = min(max(round(BDP / s), 2), files, the user's maximum)
- ProMC divides the user's maximum of channels among the classes by weights of 6, 3, 2 and 1 times
  their bytes, from the smallest files to the largest.
"""

import math
from collections.abc import Sequence
from typing import Final

from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.transfers import Levels
from advisor.models.file_classes import FileClass, Size, SizeGroup, classify, of_bins

CHANNEL_WEIGHTS: Final = {Size.TINY: 6, Size.SMALL: 3, Size.MEDIUM: 2, Size.LARGE: 1}


def classes_of(dataset: Dataset | None, bdp_bytes: float) -> list[FileClass]:
    """The classes of a dataset's files, from tiny to large; none where it is not known.

    Without a histogram of sizes all files count as one group, without a number of files as one
    file. `bdp_bytes` is above zero.
    """
    if dataset is None:
        return []
    if dataset.sizes:
        return classify(of_bins(dataset.sizes), bdp_bytes)
    files = dataset.files or 1
    whole = SizeGroup(
        files=files,
        total_bytes=dataset.total_bytes,
        smallest_bytes=0 if files > 1 else dataset.total_bytes,
        largest_bytes=dataset.largest_bytes or dataset.total_bytes,
    )
    return classify([whole], bdp_bytes)


def buffer_of(path: PathFacts) -> int | None:
    """The kernel's autotuning limit for one stream, in bytes: the smaller of both ends."""
    known = [
        sizes[2] for sizes in (path.source.tcp_wmem_bytes, path.destination.tcp_rmem_bytes) if sizes
    ]
    return min(known) if known else None


def levels_of(
    files: FileClass, bdp_bytes: float, buffer_bytes: float, most_concurrency: int
) -> Levels:
    """The rules above for one class. All arguments are above zero."""
    mean_bytes = max(1.0, files.mean_bytes)
    fills_path = math.floor(bdp_bytes / mean_bytes + 0.5)
    streams = min(math.ceil(bdp_bytes / buffer_bytes), math.ceil(mean_bytes / buffer_bytes))
    return Levels(
        concurrency=max(1, min(max(fills_path, 2), files.files, most_concurrency)),
        parallelism=max(1, streams),
        pipelining=max(1, fills_path),
    )


def class_levels(
    dataset: Dataset | None,
    bdp_bytes: float | None,
    buffer_bytes: float | None,
    most_concurrency: int,
) -> list[tuple[FileClass | None, Levels]]:
    """The levels of each class of a dataset, from tiny to large.

    Where the dataset or the BDP is not known there is one entry, without a class and with the
    levels of large files. `buffer_bytes` None: one stream may hold the whole BDP.
    """
    buffer_bytes = buffer_bytes or bdp_bytes or math.inf
    if bdp_bytes and (classes := classes_of(dataset, bdp_bytes)):
        return [(one, levels_of(one, bdp_bytes, buffer_bytes, most_concurrency)) for one in classes]
    streams = max(1, math.ceil((bdp_bytes or 0) / buffer_bytes))
    return [(None, Levels(concurrency=min(2, most_concurrency), parallelism=streams))]


def share_channels(classes: Sequence[FileClass], channels: int) -> list[int]:
    """The number of channels of each class: by weight, rounded down.

    The remainder goes first to classes without any, then to those with the fewest. Where there are
    as many channels as classes, each gets one: what is missing is taken from those with the most.
    """
    weights = [CHANNEL_WEIGHTS[one.size] * one.total_bytes for one in classes]
    total = sum(weights) or 1
    shares = [channels * weight // total for weight in weights]
    while sum(shares) < channels:
        shares[shares.index(min(shares))] += 1
    while channels >= len(shares) and 0 in shares:
        shares[shares.index(max(shares))] -= 1
        shares[shares.index(0)] += 1
    return shares
