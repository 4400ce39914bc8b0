"""What a source contains, and what of it is left out: nothing is missing without a reason."""

import os
import socket
from pathlib import Path

import pytest

from advisor.domain.file_io import CLAIM_PREFIX
from advisor.domain.manifest import EntryKind, ListingRules, Manifest
from advisor.domain.printable import printable
from advisor.hosts.scratch import MARK
from advisor.hosts.source_listing import manifest_of
from tests.scratch import marked


def tree(root: Path) -> Path:
    (root / "run" / "empty").mkdir(parents=True)
    (root / "run" / "deep").mkdir()
    (root / "run" / "deep" / "f").write_bytes(b"12345")
    (root / "run" / "deep" / "f").chmod(0o750)
    (root / "run" / "link").symlink_to("deep/f")
    (root / "run" / "dangling").symlink_to("nowhere")
    (root / "run" / "folder link").symlink_to("deep")
    return root / "run"


def kinds(manifest: Manifest) -> dict[str, EntryKind]:
    return {one.name: one.kind for one in manifest.entries}


def excluded(manifest: Manifest) -> dict[str, str]:
    return {one.name: one.reason for one in manifest.exclusions}


def test_everything_is_an_entry(tmp_path: Path) -> None:
    manifest = manifest_of(tree(tmp_path))
    assert kinds(manifest) == {
        "": EntryKind.FOLDER,
        "empty": EntryKind.FOLDER,
        "deep": EntryKind.FOLDER,
        "deep/f": EntryKind.FILE,
        "link": EntryKind.LINK,
        "dangling": EntryKind.LINK,
        "folder link": EntryKind.LINK,
    }
    assert not manifest.exclusions
    assert manifest.is_folder
    file = next(one for one in manifest.entries if one.name == "deep/f")
    status = (tmp_path / "run/deep/f").stat()
    assert (file.size_bytes, file.mode, file.mtime_ns) == (5, 0o750, status.st_mtime_ns)
    assert (file.ctime_ns, file.inode) == (status.st_ctime_ns, status.st_ino)
    [link] = (one for one in manifest.entries if one.name == "link")
    assert link.link_target == "deep/f"


def test_followed_links_are_what_they_point_to(tmp_path: Path) -> None:
    source = tree(tmp_path)
    (source / "deep" / "up").symlink_to("..")
    manifest = manifest_of(source, ListingRules(follow_links=True))
    found = kinds(manifest)
    assert found["link"] is EntryKind.FILE
    assert found["folder link/f"] is EntryKind.FILE
    assert excluded(manifest)["dangling"] == "a link to a missing file"
    assert excluded(manifest)["deep/up"] == "a link to a folder above it"


def test_one_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    manifest = manifest_of(tmp_path / "f")
    assert not manifest.is_folder
    assert kinds(manifest) == {"": EntryKind.FILE}


def test_what_is_left_out_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tree(tmp_path)
    os.mkfifo(source / "pipe")
    monkeypatch.chdir(source)  # The name of a socket is short.
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        (source / os.fsdecode(b"latin\xe9")).write_bytes(b"")
        (source / os.fsdecode(b"d\xff")).mkdir()
        (source / os.fsdecode(b"d\xff") / "inside").write_bytes(b"")
        (source / "to latin").symlink_to(os.fsdecode(b"latin\xe9"))
        manifest = manifest_of(source)
    assert excluded(manifest) == {
        "pipe": "a named pipe",
        "socket": "a socket",
        "latin\\xe9": "its name is not UTF-8",
        "d\\xff": "its name is not UTF-8",
        "to latin": "the target of the link is not UTF-8",
    }
    assert len(manifest.unwanted) == 5


def test_marks_of_the_advisor_are_left_out(tmp_path: Path) -> None:
    """At the destination they would say something about other folders, and are refused."""
    source, mark = tree(tmp_path), f"{CLAIM_PREFIX}{'0' * 16}"
    (source / mark).write_text("of a transfer to this folder")
    (source / "deep" / mark).mkdir()
    (source / "deep" / mark / "inside").write_text("")
    (source / "empty" / mark).symlink_to("nowhere")
    marked(source / ".advisor-left")
    for name in (f"{CLAIM_PREFIX}notes", f"{mark}0", mark[1:]):
        (source / name).write_text("the user's")
    manifest = manifest_of(source)
    not_finished = "it marks a transfer to this folder that was not finished"
    assert excluded(manifest) == {
        mark: not_finished,
        f"deep/{mark}": not_finished,
        f"empty/{mark}": not_finished,
        f".advisor-left/{MARK}": "it marks a folder of advisor's own",
    }
    assert len(manifest.unwanted) == 4
    assert {f"{CLAIM_PREFIX}notes", f"{mark}0", mark[1:]} < kinds(manifest).keys()
    rules = ListingRules(exclude=("*.advisor-claim-*", "*.advisor-scratch"))
    assert not manifest_of(source, rules).unwanted


def test_what_the_user_excludes_is_wanted(tmp_path: Path) -> None:
    source = tree(tmp_path)
    os.mkfifo(source / "pipe")
    manifest = manifest_of(source, ListingRules(exclude=("pipe", "deep", "*link")))
    assert excluded(manifest) == dict.fromkeys(["pipe", "deep", "link", "folder link"], "excluded")
    assert not manifest.unwanted
    assert "deep/f" not in kinds(manifest)


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    source = tree(tmp_path)
    (source / "deep").chmod(0)
    if os.access(source / "deep", os.R_OK):
        pytest.skip("this account reads every folder: tried as an ordinary user")
    manifest = manifest_of(source)
    (source / "deep").chmod(0o755)
    assert excluded(manifest) == {"deep": "Permission denied"}


def test_equal_listings_have_equal_digests(tmp_path: Path) -> None:
    source = tree(tmp_path)
    before = manifest_of(source).digest
    assert manifest_of(source).digest == before
    stamp = (source / "deep/f").stat()
    (source / "other").write_bytes(b"54321")
    (source / "other").replace(source / "deep/f")
    os.utime(source / "deep/f", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert manifest_of(source).digest != before, "same size and time, another file"


def test_a_name_is_one_printable_line() -> None:
    assert printable("a\nb\x1b]52;c;x\x07\u202eé") == "a\\nb\\x1b]52;c;x\\x07\\u202eé"
