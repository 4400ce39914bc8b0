import asyncio
import os
from pathlib import Path

import pytest

from advisor.domain.file_io import Stripes
from advisor.hosts import filesystems
from advisor.hosts.filesystems import filesystem_of, mounts, parse_stripes

# `lfs getstripe -d` as on https://wiki.lustre.org/Configuring_Lustre_File_Striping
PLAIN = "stripe_count:  2 stripe_size:   4194304 pattern:       0 stripe_offset: -1\n"
NEWER = """/mnt/testfs/run42
stripe_count:  1 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1
"""
# A folder with a progressive layout, as lfs 2.12 prints it.
PROGRESSIVE = """\
  lcm_layout_gen:    0
  lcm_mirror_count:  1
  lcm_entry_count:   2
    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 0
    lcme_extent.e_end:   65536
      stripe_count:  0       stripe_size:   65536       pattern:       mdt       stripe_offset: -1

    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 65536
    lcme_extent.e_end:   EOF
      stripe_count:  -1       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1
"""  # noqa: E501 -- as it is printed


@pytest.mark.parametrize(
    ("text", "stripes"),
    [
        (PLAIN, Stripes(count=2, size_bytes=4194304)),
        (NEWER, Stripes(count=1, size_bytes=1048576)),
        (PROGRESSIVE, Stripes(count=-1, size_bytes=1048576)),
        ("", None),
        ("error: getstripe failed for /tmp.\n", None),
    ],
)
def test_stripes(text: str, stripes: Stripes | None) -> None:
    assert parse_stripes(text) == stripes


def test_a_folder_of_this_host(tmp_path: Path) -> None:
    found = filesystem_of(tmp_path)
    room = os.statvfs(tmp_path)
    assert found.folder == str(tmp_path)
    assert found.total_bytes == room.f_blocks * room.f_frsize
    assert 0 < found.free_bytes <= found.total_bytes
    assert found.writable
    assert found.stripes is None
    assert Path(found.mount_point).stat().st_dev == tmp_path.stat().st_dev


def test_what_is_not_there_yet_is_where_it_will_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert filesystem_of(tmp_path / "not" / "yet").folder == str(tmp_path)
    assert filesystem_of(str(tmp_path / "file" / "below")).folder == str(tmp_path)


def test_kinds() -> None:
    assert filesystem_of("/proc/self").kind == "proc"
    assert filesystem_of("/proc/self").mount_point == "/proc"
    assert not filesystem_of("/proc/sys/kernel").stripes


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc")
    found = filesystem_of(tmp_path / "link")
    assert (found.folder, found.kind) == (str(tmp_path / "link"), "proc")


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    folder.mkdir()
    with pytest.raises(OSError, match="not UTF-8: name it by a symbolic link"):
        filesystem_of(folder)
    (tmp_path / "link").symlink_to(folder)
    assert filesystem_of(tmp_path / "link").writable


def test_mountinfo_is_read_with_its_escapes() -> None:
    text = (
        rb"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw" + b"\n"
        rb"36 27 0:31 /x /mnt/my\040data\134 rw shared:1 master:2 - nfs4 host:/a\040b rw,vers=4.2"
    )
    root, nfs = mounts(text)
    assert (root.kind, root.device, root.mount_point) == ("ext4", "/dev/vda", b"/")
    assert root.device_number == os.makedev(254, 0)
    assert (nfs.kind, nfs.device, nfs.mount_point) == ("nfs4", "host:/a b", b"/mnt/my data\\")


@pytest.mark.parametrize("end", [b"\r", b"\r\\012", b"\x0b", b"\xc2\x85"])
def test_a_mount_point_with_a_line_end_in_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: bytes
) -> None:
    """Any user may mount a folder of such a name."""
    text = (
        b"27 1 999:0 / / rw - ext4 /dev/vda rw\n"
        b"36 27 0:31 / /home/me/a" + end + b"b rw shared:1 - fuse me:" + end + b"x rw\n"
    )
    _, odd = mounts(text)
    name = end.replace(b"\\012", b"\n")
    assert (odd.kind, odd.mount_point) == ("fuse", b"/home/me/a" + name + b"b")
    (tmp_path / "mountinfo").write_bytes(text)
    monkeypatch.setattr(filesystems, "_MOUNTINFO", tmp_path / "mountinfo")
    assert filesystem_of(tmp_path).kind == "ext4"


def test_a_line_without_its_fields_is_passed_over() -> None:
    [root] = mounts(b"\n27 1\n27 1 0:1 / /mnt rw\n1 0 254:0 / / rw - ext4 /dev/vda rw\n")
    assert root.mount_point == b"/"


def with_mounts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lines: list[tuple[str, str, str]]
) -> None:
    """`lines`: device number, mount point, kind."""
    text = "".join(f"1 0 {number} / {at} rw - {kind} dev rw\n" for number, at, kind in lines)
    (tmp_path / "mountinfo").write_text(text)
    monkeypatch.setattr(filesystems, "_MOUNTINFO", tmp_path / "mountinfo")


def own_number(folder: Path) -> str:
    number = folder.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def test_of_mounts_above_the_one_of_the_device_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = own_number(tmp_path)
    lines = [(own, "/", "xfs"), ("999:1", str(tmp_path), "hidden")]
    with_mounts(monkeypatch, tmp_path, lines)
    assert filesystem_of(tmp_path).kind == "xfs"


def test_of_subvolumes_the_path_tells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = tmp_path.name
    lines = [
        ("999:1", "/", "ext4"),
        ("999:2", str(tmp_path), "covered"),
        ("999:3", str(tmp_path), "btrfs"),
        ("999:4", f"{tmp_path.parent}/{name[:-1]}", "of another name"),
    ]
    with_mounts(monkeypatch, tmp_path, lines)
    assert filesystem_of(tmp_path).kind == "btrfs"


def lfs(folder: Path, script: str) -> None:
    folder.mkdir()
    (folder / "lfs").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "lfs").chmod(0o755)


def test_lfs_is_asked_on_lustre(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_mounts(monkeypatch, tmp_path, [("999:1", "/", "lustre")])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert filesystem_of(tmp_path).stripes is None
    check = f'[ "$1 $2 $3" = "getstripe -d {tmp_path}" ] || exit 1'
    lfs(tmp_path / "bin", f"{check}; echo '{PLAIN}'")
    assert filesystem_of(tmp_path).stripes == Stripes(count=2, size_bytes=4194304)


async def _inside_a_loop(folder: Path) -> Stripes | None:
    return filesystem_of(folder).stripes


def test_lfs_is_asked_from_within_a_loop_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_mounts(monkeypatch, tmp_path, [("999:1", "/", "lustre")])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    lfs(tmp_path / "bin", f"echo '{NEWER}'")
    assert asyncio.run(_inside_a_loop(tmp_path)) == Stripes(count=1, size_bytes=1048576)


def test_an_lfs_that_fails_leaves_the_stripes_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_mounts(monkeypatch, tmp_path, [("999:1", "/", "lustre")])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    lfs(tmp_path / "bin", f"echo '{PLAIN}'; exit 1")
    assert filesystem_of(tmp_path).stripes is None
