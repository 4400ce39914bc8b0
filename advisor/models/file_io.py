"""Which measurements of file I/O to make, how large, and which result is the best.

Rao et al. 2016, section III.C: threads × request size × direct or buffered.
"""

from collections.abc import Sequence
from itertools import product
from typing import Final

from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem, IoDirection
from advisor.models.filesystems import STRIPE_COUNTS, can_stripe, takes_direct_io

FREE_SHARE: Final = 0.05
"""The largest test file as a fraction of the free space."""

_MIB: Final = 2**20
_LEAST_BYTES: Final = 64 * _MIB
_MOST_BYTES: Final = 4096 * _MIB

_QUICK_THREADS: Final = (1, 4, 16)
_QUICK_REQUEST_BYTES: Final = 4 * _MIB
_QUICK_S: Final = 1.0
_QUICK_BYTES: Final = 512 * _MIB
"""Half a second on a fast disk, plus as much to create the file: a session has more to measure."""

_FULL_THREADS: Final = (1, 2, 4, 8, 16)
_FULL_REQUESTS_BYTES: Final = (64 * 1024, _MIB, 8 * _MIB)
_FULL_S: Final = 2.0

Measured = tuple[FileIoJob, FileIoResult]


def most_bytes(filesystem: Filesystem) -> int:
    """The largest test file: 5 % of the free space, at most 4 GiB.

    0 where that is less than 64 MiB, the least that gives a meaningful result.
    """
    share = int(filesystem.free_bytes * FREE_SHARE) // _MIB * _MIB
    return 0 if share < _LEAST_BYTES else min(share, _MOST_BYTES)


def quick_jobs(
    direction: IoDirection, filesystem: Filesystem, *, both_modes: bool = False
) -> list[FileIoJob]:
    """Three measurements of a second, direct where possible; none without enough space.

    `both_modes`: as many buffered ones after direct ones. On Lustre all are repeated with both
    stripe counts.
    """
    direct = takes_direct_io(filesystem)
    modes = (True, False) if direct and both_modes else (direct,)
    grid = [(t, _QUICK_REQUEST_BYTES, mode) for mode in modes for t in _QUICK_THREADS]
    return _jobs(direction, filesystem, grid, _QUICK_S, _QUICK_BYTES)


def full_jobs(direction: IoDirection, filesystem: Filesystem) -> list[FileIoJob]:
    """The whole grid, direct first, of two seconds each.

    Jobs that need more than the available space are left out.
    """
    modes = (True, False) if takes_direct_io(filesystem) else (False,)
    grid = [
        (threads, request_bytes, direct)
        for direct, threads, request_bytes in product(modes, _FULL_THREADS, _FULL_REQUESTS_BYTES)
    ]
    return _jobs(direction, filesystem, grid, _FULL_S, _MOST_BYTES)


def _jobs(
    direction: IoDirection,
    filesystem: Filesystem,
    grid: Sequence[tuple[int, int, bool]],
    ceiling_s: float,
    largest_bytes: int,
) -> list[FileIoJob]:
    """The grid as the folder lays files out, then with each stripe count where it can be set."""
    total_bytes = min(largest_bytes, most_bytes(filesystem))
    layouts = (0, *STRIPE_COUNTS) if can_stripe(filesystem) else (0,)
    return [
        FileIoJob(
            direction=direction,
            threads=threads,
            request_bytes=request_bytes,
            direct=direct,
            total_bytes=total_bytes,
            ceiling_s=ceiling_s,
            stripes=stripes,
        )
        for stripes in layouts
        for threads, request_bytes, direct in grid
        if threads * request_bytes <= total_bytes
    ]


def fastest(results: Sequence[Measured]) -> Measured | None:
    """The fastest measurement; None without any."""
    return max(results, key=lambda measured: measured[1].throughput_bps, default=None)
