"""Which measurements of file I/O to make, how large, and what is the best of them.

Rao et al. 2016, section III.C: threads × request size × direct or buffered.
"""

from collections.abc import Sequence
from itertools import product
from typing import Final

from advisor.domain.file_io import Direction, FileIoJob, FileIoResult, Filesystem
from advisor.models.filesystems import takes_direct_io

FREE_SHARE: Final = 0.05
"""Of the free space, what a test file may have at most."""

_MIB: Final = 2**20
_LEAST_BYTES: Final = 64 * _MIB
_MOST_BYTES: Final = 4096 * _MIB

_QUICK_THREADS: Final = (1, 4, 16)
_QUICK_REQUEST_BYTES: Final = 4 * _MIB
_QUICK_S: Final = 1.0
_QUICK_BYTES: Final = 512 * _MIB
"""Half a second of a fast disk, and laid out in another: a session has more to measure."""

_FULL_THREADS: Final = (1, 2, 4, 8, 16)
_FULL_REQUESTS_BYTES: Final = (64 * 1024, _MIB, 8 * _MIB)
_FULL_S: Final = 2.0

Measured = tuple[FileIoJob, FileIoResult]


def most_bytes(filesystem: Filesystem) -> int:
    """The largest test file: 5 % of the free space, 4 GiB at most.

    0 where that is less than the 64 MiB below which nothing is learnt.
    """
    share = int(filesystem.free_bytes * FREE_SHARE) // _MIB * _MIB
    return 0 if share < _LEAST_BYTES else min(share, _MOST_BYTES)


def quick_jobs(direction: Direction, filesystem: Filesystem) -> list[FileIoJob]:
    """Three measurements of a second, direct where that can be; none where there is no room."""
    direct = takes_direct_io(filesystem)
    grid = [(threads, _QUICK_REQUEST_BYTES, direct) for threads in _QUICK_THREADS]
    return _jobs(direction, grid, _QUICK_S, min(_QUICK_BYTES, most_bytes(filesystem)))


def full_jobs(direction: Direction, filesystem: Filesystem) -> list[FileIoJob]:
    """The whole grid, direct first, of two seconds each.

    What needs more than there is room for is left out.
    """
    modes = (True, False) if takes_direct_io(filesystem) else (False,)
    grid = [
        (threads, request_bytes, direct)
        for direct, threads, request_bytes in product(modes, _FULL_THREADS, _FULL_REQUESTS_BYTES)
    ]
    return _jobs(direction, grid, _FULL_S, most_bytes(filesystem))


def _jobs(
    direction: Direction,
    grid: Sequence[tuple[int, int, bool]],
    ceiling_s: float,
    total_bytes: int,
) -> list[FileIoJob]:
    return [
        FileIoJob(
            direction=direction,
            threads=threads,
            request_bytes=request_bytes,
            direct=direct,
            total_bytes=total_bytes,
            ceiling_s=ceiling_s,
        )
        for threads, request_bytes, direct in grid
        if threads * request_bytes <= total_bytes
    ]


def best_of(results: Sequence[Measured]) -> Measured | None:
    """The fastest measurement; None where there is none."""
    return max(results, key=lambda measured: measured[1].throughput_bps, default=None)
