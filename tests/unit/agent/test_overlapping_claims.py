"""Claims of targets that contain each other, also where a file system has several paths."""

import errno
import fcntl
import functools
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.agent import claim_files, claims
from advisor.agent.claim_files import ClaimNote, is_claim
from advisor.agent.claims import Claim, Taken, claim
from advisor.agent.files import ANYWHERE

TAKE_OVER = [{}, {"take_over": True}]


def take(target: Path, **more: bool) -> Claim:
    """A claim of a transfer of its own."""
    return claim(
        ANYWHERE, str(target), secrets.token_hex(32), secrets.token_hex(32), "me@here", **more
    )


def files(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir() if is_claim(one.name)]


def refused(act: Callable[[], object]) -> Taken:
    with pytest.raises(Taken) as found:
        act()
    return found.value


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "store/run42/part").mkdir(parents=True)
    (tmp_path / "store/other").mkdir()
    return tmp_path / "store"


@pytest.mark.parametrize("more", TAKE_OVER)
def test_a_target_that_is_to_be_created_in_this_one_has_it(
    store: Path, more: dict[str, bool]
) -> None:
    held = take(store / "new/deep")
    found = refused(lambda: take(store, **more))
    assert found.found.is_active
    assert found.place == str(store / "new/deep")
    assert files(store) == [held.name]
    take(store / "new/beside").release(done=True)
    assert refused(lambda: take(store / "new", **more)).found.is_active
    held.release(done=True)
    take(store).release(done=True)


@pytest.mark.parametrize("more", TAKE_OVER)
@pytest.mark.parametrize("holder", ["run42", "run42/part", "run42/new"])
def test_one_in_a_folder_of_the_target_is_seen_where_the_transfer_comes_to_it(
    store: Path, more: dict[str, bool], holder: str
) -> None:
    held = take(store / holder)
    later = take(store, **more)
    later.check_free(str(store / "other"))
    later.check_free(str(store))
    for folder in ("run42/part", "run42/part/below") if holder == "run42/part" else ("run42",):
        found = refused(functools.partial(later.check_free, str(store / folder)))
        assert found.found.is_active
        assert found.found.note
        assert found.found.note.target == str(store / holder)
    held.release(done=True)
    later.check_free(str(store / "run42/part"))
    later.release(done=True)


def test_what_was_abandoned_in_the_target_has_to_be_taken_over(store: Path) -> None:
    take(store / "run42").release(done=False)
    later = take(store)
    assert not refused(lambda: later.check_free(str(store / "run42"))).found.is_active
    later.release(done=True)
    take(store / "new").release(done=False)
    assert not refused(lambda: take(store)).found.is_active
    later = take(store, take_over=True)
    later.check_free(str(store / "run42"))
    later.release(done=True)
    assert len(files(store)) == len(files(store / "run42")) == 1


@pytest.mark.parametrize("target", ["run42/part", "run42/new/deep"])
def test_what_was_abandoned_above_has_to_be_taken_over(store: Path, target: str) -> None:
    abandoned = take(store / "run42")
    abandoned.release(done=False)
    found = refused(lambda: take(store / target))
    assert not found.found.is_active
    assert found.place == str(store / "run42")
    later = take(store / target, take_over=True)
    later.release(done=True)
    # It is of another target: only a transfer to that one ends it.
    assert files(store / "run42") == [abandoned.name]
    running = take(store / "run42", take_over=True)
    for more in TAKE_OVER:
        assert refused(functools.partial(take, store / target, **more)).found.is_active
    running.release(done=True)
    assert not files(store / "run42")


def test_each_folder_is_searched_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = take(store)
    searched: list[str] = []

    def count(folder: str) -> list[str]:
        searched.append(folder)
        return []

    monkeypatch.setattr(claims, "claims_in", count)
    for _ in range(3):
        held.check_free(str(store / "run42/part"))
        held.check_free(str(store / "run42"))
    assert sorted(searched) == [str(store / "run42"), str(store / "run42/part")]
    monkeypatch.setattr(claims, "_FREE_FOLDERS", 1)
    held.check_free(str(store / "run42/part"))
    assert len(searched) == 4
    held.release(done=True)


@pytest.mark.parametrize("more", TAKE_OVER)
def test_a_folder_is_the_same_under_another_path(
    store: Path, tmp_path: Path, more: dict[str, bool]
) -> None:
    """As on a second host that has the file system mounted elsewhere."""
    there = take(store / "run42")
    to_come = take(store / "other/new/deep")
    mounted = tmp_path / "scratch"
    store.rename(mounted)
    for taken in ("run42", "run42/part", "other/new/deep", "other/new/deep/x", "other/new"):
        assert refused(functools.partial(take, mounted / taken, **more)).found.is_active
    take(mounted / "other/new/beside", **more).release(done=True)
    later = take(mounted, **more)
    refused(lambda: later.check_free(str(mounted / "run42/part")))
    later.release(done=True)
    for one in (there, to_come):
        one.release(done=False)


def test_the_root_of_one_mount_is_not_taken_for_a_folder_of_it(tmp_path: Path) -> None:
    """One host has at /store/a what another has at /store."""
    first, second = tmp_path / "host/store/a", tmp_path / "host/store"
    first.mkdir(parents=True)
    held = take(first)
    [name] = files(first)
    (first / name).rename(second / name)
    assert refused(lambda: take(second / "b")).found.is_active
    held.release(done=False)


def test_an_abandoned_one_under_another_path_is_taken_over(store: Path, tmp_path: Path) -> None:
    take(store / "run42").release(done=False)
    mounted = tmp_path / "scratch"
    store.rename(mounted)
    assert not refused(lambda: take(mounted / "run42")).found.is_active
    take(mounted / "run42", take_over=True).release(done=True)
    assert not files(mounted / "run42")


@pytest.mark.parametrize("before", ["create", "_taken_over"])
def test_one_that_comes_in_between_is_seen_after_all(
    store: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    others: list[Claim] = []
    real = getattr(claims, before)

    def delayed(*about: object, **more: bool) -> object:
        monkeypatch.setattr(claims, before, real)
        others.append(take(store / "new", take_over=True))
        return real(*about, **more)

    if before == "_taken_over":
        take(store).release(done=False)
    monkeypatch.setattr(claims, before, delayed)
    assert refused(lambda: take(store, take_over=True)).found.is_active
    # One that replaces an abandoned claim stays, to be resumed.
    assert len(files(store)) == (2 if before == "_taken_over" else 1)
    assert others[0].name in files(store)


def test_what_is_not_noted_as_it_is_now(store: Path) -> None:
    """A version before this one did not note where the target is from the file."""
    held = take(store / "new")
    [name] = files(store)
    with (store / name).open("r+") as file:
        note = json.load(file)
        del note["below"]
        file.seek(0)
        file.truncate()
        json.dump(note, file)
    assert refused(lambda: take(store)).found.is_active
    assert refused(lambda: take(store / "new")).found.is_active
    take(store / "beside").release(done=True)
    held.release(done=True)


def test_without_locks_one_that_may_run_has_to_be_taken_over(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    take(store / "new").release(done=False)
    take(store / "run42").release(done=False)
    assert not refused(lambda: take(store)).found.has_locks
    later = take(store, take_over=True)
    later.check_free(str(store / "run42"))
    later.release(done=True)
    (store / files(store)[0]).unlink()
    later = take(store)
    assert not refused(lambda: later.check_free(str(store / "run42"))).found.has_locks


NAME = f".advisor-claim-{'0' * 16}"


@pytest.mark.parametrize("where", ["..", "."])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 60_000])
def test_what_cannot_be_read_counts_in_the_target_alone(
    store: Path, where: str, content: bytes
) -> None:
    """In a folder above, which others may write in, it claims nothing that anybody can tell."""
    planted = store / where / NAME
    planted.write_bytes(content)
    with planted.open("rb") as stranger:
        fcntl.flock(stranger, fcntl.LOCK_EX)
        if where == "..":
            take(store).release(done=True)
        else:
            assert refused(lambda: take(store, take_over=True)).found.is_active


@pytest.mark.parametrize("below", ["..", "../../x", "/", "a/../../run42", "x" * 5000])
def test_what_is_noted_leads_nowhere(store: Path, below: str) -> None:
    note = ClaimNote(
        format=1, target="/", manifest="a", token_hash="b", who="", since_s=0, below=below
    )
    lock = claim_files.create(store / NAME, note)
    content = os.pread(lock, 16_384, 0)
    os.pwrite(lock, content.replace(json.loads(content)["below"].encode(), below.encode()), 0)
    take(store / "run42").release(done=True)
    os.close(lock)


def test_one_of_another_account_that_is_private_may_run(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(store / "new").release(done=False)
    [name] = files(store)
    real = os.open

    def opened(path: str, *rest: int, **more: int) -> int:
        if str(path).endswith(name):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
    assert not refused(lambda: take(store)).found.has_locks
    take(store / "beside").release(done=True)
    take(store, take_over=True)
