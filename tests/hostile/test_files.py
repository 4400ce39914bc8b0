"""Attacks on what an agent does with files: by a malicious advisor, and by another local user."""

import contextlib
import os
import posixpath
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.agent.files import (
    ANYWHERE,
    FileRights,
    FilesRefused,
    file_size,
    folder_of,
    make_scratch,
    move,
    open_file,
    remove_scratch,
    scratch_file,
)
from advisor.hosts import scratch
from advisor.hosts.scratch import MARK
from tests.scratch import marked

from .conftest import NOBODY, needs_root

REQUESTS: dict[str, Callable[[FileRights, str], object]] = {
    "folder": folder_of,
    "size": file_size,
    "checksum": open_file,
    "make scratch": make_scratch,
    "move from": lambda rights, path: move(rights, path, path + "2"),
    "remove": remove_scratch,
    "write": scratch_file,
}


def refusal(request: Callable[[FileRights, str], object], rights: FileRights, path: str) -> str:
    with pytest.raises(FilesRefused) as refused:
        request(rights, path)
    return str(refused.value)


@pytest.fixture
def given(tmp_path: Path) -> FileRights:
    """The agent was started with --files for one folder; beside it there is a secret."""
    (tmp_path / "given").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "back").symlink_to(tmp_path / "given")
    (tmp_path / "given" / "way").symlink_to(tmp_path)
    (tmp_path / "given" / "nowhere").symlink_to(tmp_path / "none")
    return FileRights([tmp_path / "given"])


@pytest.mark.parametrize("ask", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("above", ["", "given/way/", "given/../"])
def test_a_refusal_does_not_tell_what_exists(
    tmp_path: Path, given: FileRights, ask: Callable[[FileRights, str], object], above: str
) -> None:
    said = set()
    for name in ("secret/fil", "secret/file", "none/fil", "none/fil/e", "link/fil", "link/file"):
        path = f"{tmp_path}/{above}{name}"
        sentence = refusal(ask, given, path)
        said.add(sentence.replace(path, "PATH").replace(posixpath.dirname(path), "PATH"))
    assert len(said) == 1


@pytest.mark.parametrize("name", ["secret/../given/f", "link/../given/f", "none/../given/f"])
def test_no_way_back_in_tells_what_exists_outside(
    tmp_path: Path, given: FileRights, name: str
) -> None:
    assert file_size(given, f"{tmp_path}/{name}") is None


def test_a_link_from_outside_is_not_looked_at(tmp_path: Path, given: FileRights) -> None:
    """Whether it leads into the given folder would tell that it is there."""
    there = refusal(file_size, given, f"{tmp_path}/back/f")
    assert there.replace("/back/", "/none/") == refusal(file_size, given, f"{tmp_path}/none/f")


def test_a_link_in_the_given_folder_does_not_tell_what_is_at_its_end(
    tmp_path: Path, given: FileRights
) -> None:
    leads_out = refusal(folder_of, given, f"{tmp_path}/given/way/below")
    leads_nowhere = refusal(folder_of, given, f"{tmp_path}/given/nowhere/below")
    assert leads_out == leads_nowhere.replace("/nowhere/", "/way/")


def test_a_folder_that_is_only_called_so_is_kept(tmp_path: Path) -> None:
    """As somebody's `.advisor-notes`: any advisor could have it deleted."""
    notes = tmp_path / ".advisor-notes"
    notes.mkdir()
    (notes / "file").touch()
    assert "it is kept" in refusal(remove_scratch, ANYWHERE, str(notes))
    assert "not in one of" in refusal(scratch_file, ANYWHERE, f"{notes}/file")
    with pytest.raises(FilesRefused, match="not in one of"):
        move(ANYWHERE, f"{notes}/file", str(tmp_path / "taken"))
    assert (notes / "file").exists()


def test_a_copy_or_a_renamed_one_is_kept(tmp_path: Path) -> None:
    made = Path(make_scratch(ANYWHERE, str(tmp_path)))
    copy = tmp_path / ".advisor-copy"
    shutil.copytree(made, copy)
    assert "it is kept" in refusal(remove_scratch, ANYWHERE, str(copy))
    made.rename(tmp_path / ".advisor-renamed")
    assert "it is kept" in refusal(remove_scratch, ANYWHERE, str(tmp_path / ".advisor-renamed"))


def _swapped_when(name: str, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """After that function of `scratch`, another account renames: somebody's folder is `made`."""
    real = getattr(scratch, name)
    precious = made.parent / "results"
    precious.mkdir()
    (precious / "file").write_text("precious")

    def then_swapped(*given: Any, **named: Any) -> Any:
        done = real(*given, **named)
        if done is not False and precious.exists():
            made.rename(made.parent / "aside")
            precious.rename(made)
        return done

    monkeypatch.setattr(scratch, name, then_swapped)
    return made / "file"


@pytest.mark.parametrize("when", ["is_scratch", "_emptied"])
def test_what_takes_the_name_while_a_scratch_folder_is_removed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    made = Path(make_scratch(ANYWHERE, str(tmp_path)))
    precious = _swapped_when(when, made, monkeypatch)
    assert "replaced by another folder" in refusal(remove_scratch, ANYWHERE, str(made))
    assert precious.read_text() == "precious"


def test_nothing_is_moved_from_what_takes_the_name_of_a_scratch_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Path(make_scratch(ANYWHERE, str(tmp_path)))
    (made / "file").write_text("moved")
    precious = _swapped_when("is_scratch", made, monkeypatch)
    assert move(ANYWHERE, str(made / "file"), str(tmp_path / "taken")) == ""
    assert (tmp_path / "taken").read_text() == "moved"
    assert precious.read_text() == "precious"


def test_what_takes_the_name_of_a_new_folder_is_neither_marked_nor_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / scratch.new_name()
    monkeypatch.setattr(scratch, "new_name", lambda: made.name)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "file").write_text("precious")
    real = os.mkdir

    def then_swapped(name: str, *given: Any, **named: Any) -> None:
        real(name, *given, **named)
        made.rename(tmp_path / "aside")
        (tmp_path / "results").rename(made)

    monkeypatch.setattr(os, "mkdir", then_swapped)
    assert "took the place" in refusal(make_scratch, ANYWHERE, str(tmp_path))
    assert [path.name for path in made.iterdir()] == ["file"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "wrong", "long"])
def test_a_false_mark_proves_nothing(tmp_path: Path, kind: str) -> None:
    notes, mark = tmp_path / ".advisor-notes", tmp_path / ".advisor-notes" / MARK
    notes.mkdir()
    if kind == "link":
        (tmp_path / "text").write_text(notes.name)
        mark.symlink_to(tmp_path / "text")
    elif kind == "pipe":
        os.mkfifo(mark)
    elif kind == "folder":
        mark.mkdir()
    else:
        mark.write_text("another" if kind == "wrong" else notes.name * 1000)
    assert "it is kept" in refusal(remove_scratch, ANYWHERE, str(notes))
    assert notes.is_dir()


@needs_root
@pytest.mark.parametrize("what", ["folder", "mark"])
def test_a_mark_of_another_account_proves_nothing(tmp_path: Path, what: str) -> None:
    notes = marked(tmp_path / ".advisor-notes")
    os.chown(notes if what == "folder" else notes / MARK, NOBODY, NOBODY)
    assert "it is kept" in refusal(remove_scratch, ANYWHERE, str(notes))
    assert notes.is_dir()


def test_no_mark_is_made_on_request(tmp_path: Path) -> None:
    """Neither by moving a file to that name, nor by a program that writes one."""
    made = Path(make_scratch(ANYWHERE, str(tmp_path)))
    notes = tmp_path / ".advisor-notes"
    notes.mkdir()
    (made / "file").write_text(notes.name)
    for source, target in ((made / "file", notes / MARK), (made / MARK, tmp_path / "taken")):
        with pytest.raises(FilesRefused, match="does not name a file that may be written"):
            move(ANYWHERE, str(source), str(target))
    assert "may be written" in refusal(scratch_file, ANYWHERE, f"{made}/{MARK}")
    assert "may be written" in refusal(scratch_file, ANYWHERE, f"{notes}/{MARK}")
    assert list(notes.iterdir()) == []


def test_another_agent_of_the_account_may_continue(tmp_path: Path) -> None:
    """After a connection was lost: the folder proves itself."""
    made = Path(make_scratch(ANYWHERE, str(tmp_path)))
    (made / "file").write_text("data")
    assert move(FileRights([tmp_path]), f"{made}/file", f"{tmp_path}/file") == ""
    remove_scratch(FileRights([tmp_path]), str(made))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_one_that_is_nested_too_deep_to_be_removed_is_a_sentence(tmp_path: Path) -> None:
    made = Path(make_scratch(ANYWHERE, str(tmp_path)))
    before = Path.cwd()
    os.chdir(made)
    try:
        for _ in range(1500):
            os.mkdir("d")  # noqa: PTH102 -- the path would be too long
            os.chdir("d")
        # Newer versions of Python remove it.
        with contextlib.suppress(FilesRefused):
            remove_scratch(ANYWHERE, str(made))
    finally:
        os.chdir(before)
        subprocess.run(["rm", "-rf", made], check=True)


def test_names_cannot_be_predicted_and_nobody_else_may_enter(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = [Path(make_scratch(ANYWHERE, str(tmp_path))) for _ in range(20)]
    finally:
        os.umask(before)
    assert len({path.name for path in made}) == 20
    assert all(len(path.name) >= len(".advisor-") + 32 for path in made)
    assert {path.stat().st_mode & 0o7777 for path in made} == {0o700}
    assert {(path / MARK).stat().st_mode & 0o7777 for path in made} == {0o600}


def test_it_is_opened_only_to_a_server_of_another_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "links_are_protected", lambda: True)
    with socket.create_server(("127.0.0.1", 0)) as mine:
        port = mine.getsockname()[1]
        own = Path(make_scratch(ANYWHERE, str(tmp_path), port))
        # Root's servers write as somebody else.
        assert own.stat().st_mode & 0o7777 == (0o1777 if os.geteuid() == 0 else 0o700)
    for another in (port, -1):
        made = Path(make_scratch(ANYWHERE, str(tmp_path), another))
        assert made.stat().st_mode & 0o7777 == 0o1777
        remove_scratch(ANYWHERE, str(made))


def test_where_links_are_not_protected_it_is_not_opened_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There a local user could lead the server to any file of the account it runs as."""
    setting = tmp_path / "protected_symlinks"
    monkeypatch.setattr(scratch, "_PROTECTED_LINKS", setting)
    (tmp_path / "data").mkdir()
    for content in ("0\n", None):
        if content:
            setting.write_text(content)
        else:
            setting.unlink()
        with pytest.raises(FilesRefused) as refused:
            make_scratch(ANYWHERE, str(tmp_path / "data"), -1)
        assert refused.value.problem.command == "sysctl -w fs.protected_symlinks=1"
        assert list((tmp_path / "data").iterdir()) == []
        remove_scratch(ANYWHERE, make_scratch(ANYWHERE, str(tmp_path / "data")))


def test_what_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "_mark", fails)
    with pytest.raises(FilesRefused, match="No space left"):
        make_scratch(ANYWHERE, str(tmp_path))
    assert list(tmp_path.iterdir()) == []
