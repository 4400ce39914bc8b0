import msgspec
import pytest

from advisor.domain.advice import Side
from advisor.domain.file_io import Filesystem, Stripes
from advisor.models.filesystems import notes_on, takes_direct_io


def of_kind(kind: str, stripes: Stripes | None = None) -> Filesystem:
    return Filesystem(
        folder="/data",
        kind=kind,
        device="/dev/sdb",
        mount_point="/data",
        total_bytes=2**40,
        free_bytes=2**39,
        writable=True,
        stripes=stripes,
    )


def said(kind: str, side: Side = "destination", stripes: Stripes | None = None) -> str:
    return " ".join(notes_on(of_kind(kind, stripes), side))


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("xfs", "XFS"),
        ("ext4", "memory"),
        ("tmpfs", "RAM"),
        ("nfs", "network"),
        ("nfs4", "network"),
        ("zfs", "compress"),
        ("btrfs", "checksums"),
        ("overlay", "container"),
        ("fuse.sshfs", "FUSE"),
        ("gpfs", "parallel"),
        ("9p", "another machine"),
        ("oddfs", "The file system oddfs is not known"),
    ],
)
def test_each_kind_is_explained(kind: str, word: str) -> None:
    assert word in said(kind)


def test_memory_is_no_disk() -> None:
    for side in ("source", "destination"):
        assert "does not measure a disk" in said("tmpfs", side)
    assert "RAM" not in said("tmpfs", "source")


@pytest.mark.parametrize(
    ("kind", "takes"),
    [
        *((kind, True) for kind in ("xfs", "ext4", "nfs4", "lustre")),
        *((kind, False) for kind in ("tmpfs", "ramfs", "zfs", "fuseblk", "fuse.sshfs")),
    ],
)
def test_direct_io(kind: str, takes: bool) -> None:
    assert takes_direct_io(of_kind(kind)) is takes


def test_a_single_stripe_of_lustre_has_a_remedy_where_files_are_yet_to_be_written() -> None:
    one = Stripes(count=1, size_bytes=2**20)
    assert "lfs setstripe -c 8 /data" in said("lustre", "destination", one)
    assert "1 stripe" in said("lustre", "source", one)
    assert "setstripe" not in said("lustre", "source", one)


def test_stripes_of_lustre() -> None:
    assert "4 storage targets, 4 MiB" in said("lustre", stripes=Stripes(count=4, size_bytes=2**22))
    assert "all storage targets" in said("lustre", stripes=Stripes(count=-1, size_bytes=2**20))
    assert "default" in said("lustre", stripes=Stripes(count=0, size_bytes=0))
    assert "lfs getstripe" in said("lustre")
    assert "4 to 6 flows" in said("lustre")


def test_a_folder_that_may_not_be_written() -> None:
    locked = msgspec.structs.replace(of_kind("xfs"), writable=False)
    assert "You may not write in /data" in notes_on(locked, "source")[-1]
    assert not any("may not write" in note for note in notes_on(of_kind("xfs"), "source"))
