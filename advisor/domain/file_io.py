"""The two ends of a transfer of files that are no network: file systems, and reading and writing.

Rao et al. 2016, section III.C: file I/O is profiled over the number of threads, the size of a
request, and direct or buffered.
"""

from typing import Annotated, Final, Literal

import msgspec

from advisor.domain.space import Setting

Direction = Literal["read", "write"]

_Text = Annotated[str, msgspec.Meta(max_length=4096)]
_Bytes = Annotated[int, msgspec.Meta(ge=0, le=2**62)]

SOURCE_DISK: Final = "source disk"
DESTINATION_DISK: Final = "destination disk"
DISKS: Final = frozenset({SOURCE_DISK, DESTINATION_DISK})
"""What records name as measured where it was a disk alone, which moves nothing between hosts."""

SCRATCH_PREFIX: Final = ".advisor-"
"""What the name of every file and folder begins with that the advisor makes among a user's files,
and that of nothing else it would ever remove."""


class Stripes(msgspec.Struct, frozen=True, kw_only=True):
    """How Lustre lays out new files of a folder. `count` -1: over all targets."""

    count: Annotated[int, msgspec.Meta(ge=-1, le=2000)]
    size_bytes: _Bytes


class Filesystem(msgspec.Struct, frozen=True, kw_only=True):
    """What holds a folder.

    `kind` is the kernel's name for it: xfs, ext4, tmpfs, nfs4, lustre. `device`: what is mounted.
    `free_bytes`: what this user may still write. `writable`: whether they may make files in it.
    `stripes` is None but for Lustre.
    """

    folder: _Text
    kind: Annotated[str, msgspec.Meta(max_length=64)]
    device: _Text
    mount_point: _Text
    total_bytes: _Bytes
    free_bytes: _Bytes
    writable: bool
    stripes: Stripes | None = None


class FileIoJob(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement of file I/O.

    `threads` read or write at once, each a part of its own, `request_bytes` at a time; `direct`:
    past the page cache. `total_bytes`: all of them together at most. `ceiling_s`: it ends then.
    """

    direction: Direction
    threads: Annotated[int, msgspec.Meta(ge=1, le=128)]
    request_bytes: Annotated[int, msgspec.Meta(ge=512, le=2**30)]
    direct: bool
    total_bytes: Annotated[int, msgspec.Meta(ge=1, le=2**50)]
    ceiling_s: Annotated[float, msgspec.Meta(gt=0, le=600)]

    @property
    def setting(self) -> Setting:
        """As records have it."""
        return {
            "threads": self.threads,
            "request_bytes": self.request_bytes,
            "direct": int(self.direct),
        }


class FileIoResult(msgspec.Struct, frozen=True, kw_only=True):
    """What it gave: `moved_bytes` in `elapsed_s`, both above zero. `program`: fio's version.

    What was written buffered counts with the time it took to reach the disk.
    """

    moved_bytes: _Bytes
    elapsed_s: float
    cpu_cores: float
    program: Annotated[str, msgspec.Meta(max_length=64)]

    @property
    def throughput_bps(self) -> float:
        """Mean over the whole, in bit/s."""
        return self.moved_bytes * 8 / self.elapsed_s
