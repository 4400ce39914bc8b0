"""The file system of a folder of this host: kind, free space, and Lustre's stripes."""

import asyncio
import errno
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.file_io import Filesystem, Stripes
from advisor.domain.printable import printable
from advisor.hosts.processes import output_of
from advisor.models.filesystems import setstripe_argv

_MOUNTINFO: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")
_STRIPES: Final = re.compile(r"\bstripe_count:\s+(-?\d+)\s+(?:lmm_)?stripe_size:\s+(\d+)")
_LFS_S: Final = 5.0


class Mount(msgspec.Struct, frozen=True):
    """A line of /proc/self/mountinfo. `device_number`: as in `st_dev`."""

    device_number: int
    mount_point: bytes
    kind: str
    device: str


def filesystem_of(path: str | Path) -> Filesystem:
    """The file system of `path`, or of the nearest existing folder above it.

    Raises OSError when nothing there can be read.
    """
    folder = _nearest_folder(Path(path).absolute())
    room = os.statvfs(folder)
    mount = _mount_of(folder, list(mounts(_MOUNTINFO.read_bytes())))
    return Filesystem(
        folder=str(folder),
        kind=mount.kind,
        device=mount.device,
        mount_point=mount.mount_point.decode(errors="replace"),
        total_bytes=room.f_blocks * room.f_frsize,
        free_bytes=room.f_bavail * room.f_frsize,
        writable=os.access(folder, os.W_OK | os.X_OK, effective_ids=True),
        stripes=_stripes_of(folder) if mount.kind == "lustre" else None,
    )


def _nearest_folder(path: Path) -> Path:
    folder = next(one for one in (path, *path.parents) if one.is_dir())
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        message = "its name is not UTF-8: name it by a symbolic link"
        raise OSError(errno.EILSEQ, message, os.fsencode(folder).decode(errors="replace")) from None
    return folder


def mounts(text: bytes) -> Iterator[Mount]:
    """The mounts of a mountinfo file, in order: a later one hides an earlier one."""
    # Not `splitlines`: of all line ends in a name, the kernel escapes the line feed alone.
    for line in text.split(b"\n"):
        before, _, after = line.partition(b" - ")
        about_mount, about_kind = before.split(b" "), after.split(b" ")
        if len(about_mount) < 5 or len(about_kind) < 2:
            continue
        numbers, point = about_mount[2], about_mount[4]
        kind, device, *_ = about_kind
        major, _, minor = numbers.partition(b":")
        yield Mount(
            os.makedev(int(major), int(minor)),
            _unescaped(point),
            printable(kind.decode(errors="replace")),
            _unescaped(device).decode(errors="replace"),
        )


def _unescaped(field: bytes) -> bytes:
    return _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), field)


def _mount_of(folder: Path, found: list[Mount]) -> Mount:
    """The mount that holds the folder.

    A mount with the folder's device comes first, since another may hide behind it; subvolumes of
    Btrfs have a device number that no mount has, and then the path alone decides.
    """
    real = os.path.realpath(os.fsencode(folder))
    above = [mount for mount in found if _holds(mount.mount_point, real)]
    if not above:
        raise OSError(errno.ENOENT, "no mount holds it", str(folder))
    number = folder.stat().st_dev
    return max(
        enumerate(above),
        key=lambda m: (m[1].device_number == number, len(m[1].mount_point), m[0]),
    )[1]


def _holds(mount_point: bytes, real: bytes) -> bool:
    return real == mount_point or real.startswith(mount_point.rstrip(b"/") + b"/")


def _stripes_of(folder: Path) -> Stripes | None:
    """None without `lfs`, or without an answer from it."""
    if shutil.which("lfs") is None:
        return None
    try:
        status, text = _ran(["lfs", "getstripe", "-d", str(folder)])
    except (OSError, TimeoutError):
        return None
    return parse_stripes(text) if status == 0 else None


def set_stripes(folder: str, count: int) -> None:
    """Have Lustre lay new files of a folder over this many targets. Raises OSError."""
    try:
        status, _ = _ran(setstripe_argv(folder, count))
    except TimeoutError:
        raise OSError(errno.ETIMEDOUT, f"lfs setstripe -c {count} gave no answer", folder) from None
    if status:
        why = f"lfs setstripe -c {count} failed with status {status}"
        raise OSError(errno.EIO, why, folder)


def _ran(argv: list[str]) -> tuple[int, str]:
    """Status and output of lfs. Raises OSError, TimeoutError."""
    # A separate loop in a separate thread: the caller's thread may have one running.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(output_of(argv, _LFS_S))).result()


def parse_stripes(text: str) -> Stripes | None:
    """What `lfs getstripe -d` reports for new files; None for unknown output.

    Of a progressive layout the last part is used: that of large files.
    """
    parts = _STRIPES.findall(text)
    if not parts:
        return None
    count, size = parts[-1]
    return Stripes(count=int(count), size_bytes=int(size))
