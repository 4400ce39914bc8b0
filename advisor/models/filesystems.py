"""Notes on how the file system of a folder affects file transfers."""

from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.domain.advice import Side
from advisor.domain.file_io import STRIPES, Filesystem, Stripes
from advisor.domain.quantities import format_bytes
from advisor.domain.shell import shell_line
from advisor.domain.space import Parameter, Scale, Space

_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"})
_NFS: Final = frozenset({"nfs", "nfs4"})
_SHARES: Final = frozenset({"cifs", "smb3", "9p", "virtiofs"})
_PARALLEL: Final = frozenset({"gpfs", "beegfs", "ceph", "panfs", "orangefs", "pvfs2"})

_PAGE_CACHE: Final = (
    "Buffered writes first go to memory: here they are timed until they reach the disk."
)
_KNOWN: Final = {
    "xfs": (
        "XFS handles several threads in one file well: more flows move more "
        "(Rao et al. 2016, section IV.B)."
    ),
    "ext4": "ext4 allocates space for buffered writes late, when memory is flushed to the disk; "
    "direct I/O avoids that.",
    "zfs": (
        "ZFS checksums and may compress, which takes CPU: the test data do not compress, so yours "
        "may move faster. Reads may come from its own cache in memory (ARC)."
    ),
    "btrfs": (
        "Btrfs checksums and may compress, which takes CPU: the test data do not compress, so "
        "yours may move faster. Direct I/O may be turned into buffered."
    ),
    "overlay": (
        "This is a container's own layer (overlay), slower than the file system below it and "
        "deleted with the container: mount a volume for the data."
    ),
}


STRIPE_COUNTS: Final = (2, 8)
"""Those that Rao et al. 2016 compare on Lustre (section IV)."""


def can_stripe(filesystem: Filesystem) -> bool:
    """Whether the stripes of new files can be set there: on Lustre, where `lfs` answers."""
    return filesystem.kind == "lustre" and filesystem.stripes is not None


def with_stripes(space: Space) -> Space:
    """The space with both stripe counts at every setting."""
    fewest, most = STRIPE_COUNTS
    stripes = Parameter(
        name=STRIPES, unit="", lower=fewest, upper=most, scale=Scale.LOG2, only_bounds=True
    )
    return msgspec.structs.replace(
        space,
        parameters=(*space.parameters, stripes),
        cost_order=(*space.cost_order, STRIPES),
        note=f"{space.note}; new files over {fewest} or {most} stripes",
    )


def setstripe_line(folder: str, count: int) -> str:
    """The line that sets the stripes of new files in a folder, which is created if it is missing.

    Without the folder, `lfs setstripe` would create a file of that name.
    """
    return f"{shell_line(['mkdir', '-p', folder])} && {shell_line(setstripe_argv(folder, count))}"


def setstripe_argv(folder: str, count: int) -> list[str]:
    """The command that sets the stripes of new files in an existing folder."""
    return ["lfs", "setstripe", "-c", str(count), folder]


def takes_direct_io(filesystem: Filesystem) -> bool:
    """Whether direct I/O is worth trying: False where it is refused or silently not done.

    ZFS before 2.3 accepts it and buffers anyway.
    """
    kind = filesystem.kind
    return kind not in _MEMORY and kind != "zfs" and not kind.startswith("fuse")


def notes_on(filesystem: Filesystem, side: Side) -> list[str]:
    """Notes on a transfer that reads (source) or writes (destination) there: sentences."""
    notes = list(_of_kind(filesystem, side))
    if side == "destination" and filesystem.kind in ("xfs", "ext4", "btrfs"):
        notes.append(_PAGE_CACHE)
    if not filesystem.writable:
        notes.append(
            f"You may not write in {filesystem.folder}, so its speed cannot be measured there."
        )
    return notes


def _of_kind(filesystem: Filesystem, side: Side) -> Iterator[str]:
    kind = filesystem.kind
    if kind in _KNOWN:
        yield _KNOWN[kind]
    elif kind in _MEMORY:
        yield f"{kind} is memory: it does not measure a disk, and does not support direct I/O."
        if side == "destination":
            yield "Data written there counts against RAM."
    elif kind in _NFS:
        yield (
            "NFS itself runs over a network: that network and its server determine its speed, and "
            "a transfer through the same network card shares it."
        )
        yield _closing(side)
    elif kind == "lustre":
        yield from _of_lustre(filesystem, side)
    elif kind in _PARALLEL:
        yield f"{kind} is a parallel file system behind a network: many flows suit it."
    elif kind in _SHARES:
        yield f"{kind} is a share of another machine, which limits reading and writing."
    elif kind.startswith("fuse"):
        yield f"{kind} goes through a program in user space (FUSE): it is a likely limit."
    else:
        yield f"The file system {kind} is not known here: only measurements show its speed."


def _closing(side: Side) -> str:
    if side == "destination":
        return "A file is safe on the server, and seen by other hosts, once it is closed."
    return "Recently read data may come from the server's memory, faster than from its disk."


def _of_lustre(filesystem: Filesystem, side: Side) -> Iterator[str]:
    if filesystem.stripes:
        yield _striping(filesystem.folder, filesystem.stripes, side)
    else:
        yield "The striping of files is not known: 'lfs getstripe -d' on the folder shows it."
    yield (
        "On Lustre, direct I/O with many flows and 8 stripes was best, while buffered I/O slowed "
        "down beyond 4 to 6 flows (Rao et al. 2016, section IV)."
    )


def _striping(folder: str, stripes: Stripes, side: Side) -> str:
    match stripes.count:
        case 1:
            line = shell_line(setstripe_argv(folder, STRIPE_COUNTS[-1]))
            remedy = f": for large files, `{line}` before they are written"
            remedy = remedy if side == "destination" else ""
            return f"New files here are on one storage target (1 stripe), which limits one{remedy}."
        case 0:
            return "New files here are striped by the default of the file system."
        case -1:
            where = "all storage targets"
        case count:
            where = f"{count} storage targets"
    size = f", {format_bytes(stripes.size_bytes)} at a time" if stripes.size_bytes else ""
    return f"New files here are striped over {where}{size}."
