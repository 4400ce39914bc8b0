"""The storage side of a file transfer: file systems, reading and writing.

Rao et al. 2016, section III.C: file I/O is profiled over the number of threads, the size of a
request, and direct or buffered.
"""

from typing import Annotated, Final, Literal

import msgspec

from advisor.domain.bounded import MOST, ByteCount, Figure, Lasted
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.printable import SHOWN
from advisor.domain.space import Setting

IoDirection = Literal["read", "write"]

_Text = Annotated[str, msgspec.Meta(max_length=4096)]
StripeCount = Annotated[int, msgspec.Meta(ge=0, le=2000)]

IO_MODE: Final = "direct"
"""The name in settings: 1 bypasses the page cache, 0 leaves reading and writing to the kernel."""

STRIPES: Final = "stripes"
"""The name in settings: over how many storage targets Lustre lays the files that advisor creates.
A setting without it leaves that to their folder."""

SOURCE_DISK: Final = "source disk"
DESTINATION_DISK: Final = "destination disk"
DISKS: Final = frozenset({SOURCE_DISK, DESTINATION_DISK})
"""Subjects of records that measure a disk alone, which moves nothing between hosts."""

NETWORK: Final = "network"
TOOL_IN_MEMORY: Final = "tool memory to memory"
PARTS: Final = DISKS | {TOOL_IN_MEMORY}
"""Subjects of records that measure one part of a file transfer alone: no rate of a transfer."""

SCRATCH_PREFIX: Final = ".advisor-"
"""Prefix of the name of every file and folder that the advisor creates among a user's files. The
advisor never removes anything else."""

CLAIM_PREFIX: Final = f"{SCRATCH_PREFIX}claim-"
CLAIM_HASH_LENGTH: Final = 16
"""A file of this prefix and as many characters more is the claim of one transfer."""


def is_claim_name(name: str) -> bool:
    """Whether a file of this name claims a folder for one transfer."""
    return name.startswith(CLAIM_PREFIX) and len(name) == len(CLAIM_PREFIX) + CLAIM_HASH_LENGTH


def tool_setting(setting: Setting) -> Setting:
    """What of a setting the tool itself is given: stripes are a property of the file's folder."""
    return {name: value for name, value in setting.items() if name != STRIPES}


class Stripes(msgspec.Struct, frozen=True, kw_only=True):
    """How Lustre stripes new files of a folder. `count` -1: over all targets."""

    count: Annotated[int, msgspec.Meta(ge=-1, le=2000)]
    size_bytes: ByteCount


class Filesystem(msgspec.Struct, frozen=True, kw_only=True):
    """The file system of a folder.

    `kind` is the kernel's name for it: xfs, ext4, tmpfs, nfs4, lustre. `device`: what is mounted.
    `free_bytes`: what this user may still write. `writable`: whether the user may create files in
    the folder. `stripes` is None except for Lustre.
    """

    folder: _Text
    kind: Annotated[str, msgspec.Meta(max_length=64, pattern=SHOWN)]
    device: _Text
    mount_point: _Text
    total_bytes: ByteCount
    free_bytes: ByteCount
    writable: bool
    stripes: Stripes | None = None


class FileIoJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measurement of file I/O.

    `threads` read or write concurrently, each its own part, `request_bytes` at a time. `direct`:
    bypass the page cache. `total_bytes`: the most that all of them move together. `ceiling_s`: time
    limit. `stripes`: of the file on Lustre; 0 leaves them to its folder.
    """

    direction: IoDirection
    threads: Annotated[int, msgspec.Meta(ge=1, le=128)]
    request_bytes: Annotated[int, msgspec.Meta(ge=512, le=2**30)]
    direct: bool
    total_bytes: Annotated[int, msgspec.Meta(ge=1, le=2**50)]
    ceiling_s: Annotated[float, msgspec.Meta(gt=0, le=600)]
    stripes: StripeCount = 0

    @property
    def setting(self) -> Setting:
        """The setting as stored in records."""
        layout: Setting = {STRIPES: self.stripes} if self.stripes else {}
        return {
            "threads": self.threads,
            "request_bytes": self.request_bytes,
            "direct": int(self.direct),
            **layout,
        }


class FileIoResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result: `moved_bytes` in `elapsed_s`, both above zero. `program`: fio's version.

    For buffered writes `elapsed_s` includes the time until the data reached the disk.
    """

    moved_bytes: Annotated[int, msgspec.Meta(ge=1, le=MOST)]
    elapsed_s: Lasted
    cpu_cores: Figure
    program: Annotated[str, msgspec.Meta(max_length=64, pattern=SHOWN)]

    @property
    def throughput_bps(self) -> float:
        """Mean over the whole, in bit/s."""
        return self.moved_bytes * 8 / self.elapsed_s

    @property
    def measurement(self) -> Measurement:
        """The result as stored in records."""
        return Measurement(
            throughput_bps=self.throughput_bps,
            stderr_bps=0.0,
            intervals=[Interval(0.0, self.elapsed_s, self.moved_bytes)],
            steady_from=0,
            settled=True,
            elapsed_s=self.elapsed_s,
            versions={"fio": self.program},
        )
