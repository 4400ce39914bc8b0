"""The exclusive right to write at a target: between processes, after a crash, against plants."""

import errno
import fcntl
import os
import secrets
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.agent import claims
from advisor.agent.claim_files import is_claim
from advisor.agent.claims import Claim, Taken, claim
from advisor.agent.files import ANYWHERE, FileRights, FilesRefused

NOBODY = 65534
MANIFEST = "a" * 64
TOKEN = secrets.token_hex(32)


def take(target: Path, token: str = TOKEN, manifest: str = MANIFEST, **more: bool) -> Claim:
    return claim(ANYWHERE, str(target), manifest, token, "me@here", **more)


def files(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir() if is_claim(one.name)]


@pytest.mark.parametrize("exists", [True, False])
def test_one_at_a_time(tmp_path: Path, exists: bool) -> None:
    target = tmp_path / "a" / "b"
    if exists:
        target.mkdir(parents=True)
    first = take(target)
    assert not first.is_resumed
    for more in ({}, {"take_over": True}):
        with pytest.raises(Taken) as found:
            take(target, secrets.token_hex(32), **more)
        assert found.value.found.is_active
        assert found.value.found.note
        assert found.value.found.note.who == "me@here"
    first.release(done=True)
    assert not files(target if exists else tmp_path)
    take(target, secrets.token_hex(32)).release(done=True)


def test_a_target_is_the_same_however_it_is_spelled(tmp_path: Path) -> None:
    target = tmp_path / "real"
    target.mkdir()
    (tmp_path / "link").symlink_to("real")
    held = take(target)
    for spelled in (tmp_path / "link", tmp_path / "x/../real", Path(f"{target}/")):
        with pytest.raises(Taken):
            take(spelled, secrets.token_hex(32))
    held.release(done=True)


def test_a_target_inside_of_a_claimed_one_is_taken(tmp_path: Path) -> None:
    held = take(tmp_path / "a")
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(Taken) as found:
        take(tmp_path / "a" / "b" / "c", secrets.token_hex(32))
    assert found.value.found.note
    assert found.value.found.note.target == str(tmp_path / "a")
    take(tmp_path / "other", secrets.token_hex(32)).release(done=True)
    held.release(done=True)


def test_an_abandoned_one_is_resumed_or_taken_over(tmp_path: Path) -> None:
    take(tmp_path).release(done=False)
    assert files(tmp_path)
    other = secrets.token_hex(32)
    with pytest.raises(Taken) as found:
        take(tmp_path, other, "b" * 64)
    assert not found.value.found.is_active
    by_token = take(tmp_path, TOKEN, "c" * 64)
    assert by_token.is_resumed
    by_token.release(done=False)
    by_manifest = take(tmp_path, other, "c" * 64)
    assert by_manifest.is_resumed
    by_manifest.release(done=False)
    taken_over = take(tmp_path, secrets.token_hex(32), "d" * 64, take_over=True)
    assert not taken_over.is_resumed
    taken_over.release(done=True)
    assert not files(tmp_path)


def test_a_process_that_is_killed_has_abandoned_it(tmp_path: Path) -> None:
    line = (
        "import sys, time; from advisor.agent.claims import claim; "
        "from advisor.agent.files import ANYWHERE; "
        "held = claim(ANYWHERE, sys.argv[1], 'a' * 64, 'f' * 64, 'they'); "
        "print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", line, str(tmp_path)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        with pytest.raises(Taken) as found:
            take(tmp_path, manifest="b" * 64)
        assert found.value.found.is_active
        process.kill()
    with pytest.raises(Taken) as found:
        take(tmp_path, manifest="b" * 64)
    assert not found.value.found.is_active


def test_the_same_transfer_waits_for_its_former_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = take(tmp_path)
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            held.release(done=False)

    again = claim(ANYWHERE, str(tmp_path), MANIFEST, TOKEN, "me@here", check=check)
    assert again.is_resumed
    monkeypatch.setattr(claims, "_SAME_TRANSFER_S", 0.0)
    with pytest.raises(Taken):
        take(tmp_path)
    again.release(done=True)


PLANTS = [
    lambda file: file.symlink_to("/etc/passwd"),
    lambda file: os.mkfifo(file),
    lambda file: file.mkdir(),
    lambda file: file.write_bytes(b"[" * 60_000),
    lambda file: file.write_bytes(b'{"format": 1}'),
    lambda file: file.write_bytes(b"\xff\x00"),
]


@pytest.mark.parametrize("number", range(len(PLANTS)))
def test_what_is_planted_there_is_refused_and_not_followed(tmp_path: Path, number: int) -> None:
    take(tmp_path).release(done=False)
    [name] = files(tmp_path)
    (tmp_path / name).unlink()
    PLANTS[number](tmp_path / name)
    began_s = time.monotonic()
    with pytest.raises((Taken, FilesRefused)):
        take(tmp_path)
    assert time.monotonic() - began_s < 10, "a pipe without a writer is not waited for"


def test_a_held_lock_of_a_stranger_is_a_refusal(tmp_path: Path) -> None:
    take(tmp_path).release(done=False)
    [name] = files(tmp_path)
    with (tmp_path / name).open("rb") as stranger:
        fcntl.flock(stranger, fcntl.LOCK_EX)
        with pytest.raises(Taken):
            take(tmp_path, secrets.token_hex(32))


def test_outside_the_folders_nothing_is_claimed(tmp_path: Path) -> None:
    rights = FileRights([tmp_path / "offered"])
    with pytest.raises(FilesRefused):
        claim(rights, str(tmp_path / "other"), MANIFEST, TOKEN, "me")
    assert not files(tmp_path)


def test_the_time_of_the_folder_is_kept_when_it_ends(tmp_path: Path) -> None:
    held = take(tmp_path)
    os.utime(tmp_path, ns=(10**18, 10**18))
    held.release(done=True)
    assert tmp_path.stat().st_mtime_ns == 10**18


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder of an account that is not root's, which is this process's: root may do anything."""
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() == 0:
            os.chown(name, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        yield Path(name)
        os.seteuid(os.getuid())


def test_a_folder_that_became_read_only_keeps_no_file_and_is_as_it_was(own_folder: Path) -> None:
    target = own_folder / "target"
    target.mkdir()
    held = take(target)
    target.chmod(0o555)
    os.utime(target, ns=(10**18, 10**18))
    assert held.release(done=True) == ""
    assert files(target) == []
    status = target.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (0o555, 10**18)


def test_why_the_file_could_not_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = take(tmp_path)

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refused)
        assert held.release(done=True) == "Read-only file system"
    assert files(tmp_path)
    assert held.release(done=True) == ""


def test_without_locks_the_file_alone_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    take(tmp_path).release(done=False)
    other = secrets.token_hex(32)
    for manifest in (MANIFEST, "b" * 64):
        with pytest.raises(Taken) as found:
            take(tmp_path, other, manifest)
        assert not found.value.found.has_locks
    assert take(tmp_path).is_resumed
    taken_over = take(tmp_path, other, "b" * 64, take_over=True)
    assert not taken_over.is_resumed
    taken_over.release(done=True)
    assert not files(tmp_path)


@pytest.fixture
def nfs4(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule of its client: an exclusive lock needs a handle that is open for writing."""
    real = fcntl.flock

    def flock(handle: int, kind: int) -> None:
        mode = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE
        if kind & fcntl.LOCK_EX and mode == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        real(handle, kind)

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.fixture
def of_another_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Existing files can be read, not written, also for root."""
    real = os.open

    def opened(path: str, flags: int, *rest: int, **more: int) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY and not flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opened)


def is_refused_as_active(target: Path) -> bool:
    with pytest.raises(Taken) as found:
        take(target, secrets.token_hex(32), "e" * 64, take_over=True)
    return found.value.found.is_active


def resume_and_take_over(target: Path) -> None:
    take(target).release(done=False)
    resumed = take(target)
    assert resumed.is_resumed
    assert is_refused_as_active(target)
    assert is_refused_as_active(target / "below")
    resumed.release(done=False)
    with pytest.raises(Taken) as found:
        take(target / "below", secrets.token_hex(32), "b" * 64)
    assert not found.value.found.is_active
    assert found.value.found.has_locks
    take(target, secrets.token_hex(32), "b" * 64, take_over=True).release(done=True)
    assert not files(target)


@pytest.mark.usefixtures("nfs4")
def test_on_nfs_an_abandoned_one_is_resumed_or_taken_over(tmp_path: Path) -> None:
    resume_and_take_over(tmp_path)


@pytest.mark.usefixtures("nfs4", "of_another_account")
def test_on_nfs_that_of_another_account_is_seen_and_taken_over(tmp_path: Path) -> None:
    resume_and_take_over(tmp_path)


@pytest.mark.usefixtures("of_another_account")
def test_that_of_another_account_is_seen_and_taken_over(tmp_path: Path) -> None:
    resume_and_take_over(tmp_path)
