"""Attacks on the folder for locks, sockets and the state of labs."""

import os
import re
from pathlib import Path

import pytest

from advisor.hosts import private_folders
from advisor.hosts.private_folders import (
    NotPrivate,
    present_runtime_folder,
    private_file,
    private_folder,
    read_private,
    runtime_folder,
)

from .conftest import NOBODY, needs_root

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's runtime folder is to be."""
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "run"


def test_it_is_made_for_its_owner_alone_whatever_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        made = runtime_folder("lab")
    finally:
        os.umask(before)
    assert made == home / "lab"
    assert {made.stat().st_mode & 0o7777, home.stat().st_mode & 0o7777} == {0o700}
    assert runtime_folder("lab") == made


def test_looking_makes_nothing_and_believes_no_more(home: Path) -> None:
    assert present_runtime_folder("lab") == home / "lab"
    assert not home.exists()
    runtime_folder("lab")
    assert present_runtime_folder("lab") == home / "lab"
    home.chmod(0o755)
    with pytest.raises(NotPrivate, match="is open to other users"):
        present_runtime_folder("lab")


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o770, 0o777, 0o1777])
@pytest.mark.parametrize("name", [".", "lab"])
def test_one_that_is_open_to_others_is_refused(home: Path, mode: int, name: str) -> None:
    runtime_folder("lab")
    (home / name).chmod(mode)
    with pytest.raises(NotPrivate, match=rf"\(mode {mode:04o}\): make it yours alone$") as refused:
        runtime_folder("lab")
    assert refused.value.problem.command == f"chmod 700 {home / name}"


@pytest.mark.parametrize("name", [".", "lab"])
@needs_root
def test_one_of_another_user_is_refused(home: Path, name: str) -> None:
    runtime_folder("lab")
    os.chown(home / name, NOBODY, NOBODY)
    with pytest.raises(NotPrivate, match="belongs to another user"):
        runtime_folder("lab")


@pytest.mark.parametrize("name", [".", "lab"])
def test_a_link_is_not_followed(home: Path, tmp_path: Path, name: str) -> None:
    private_folder(tmp_path / "elsewhere" / "lab")
    if name == "lab":
        runtime_folder()
    (home / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotPrivate, match="is a link or not a folder"):
        runtime_folder("lab")


def test_a_folder_above_that_everyone_may_change_is_refused(tmp_path: Path) -> None:
    """A stranger could put another one in its place, after it was looked at."""
    everyones = tmp_path / "everyones"
    everyones.mkdir()
    everyones.chmod(0o777)
    with pytest.raises(NotPrivate, match="is writable by everyone"):
        private_folder(everyones / "mine")
    assert list(everyones.iterdir()) == []
    everyones.chmod(0o1777)
    private_folder(everyones / "mine")


@needs_root
def test_a_folder_above_of_another_user_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    with pytest.raises(NotPrivate, match="which belongs to another user"):
        private_folder(theirs / "mine")
    assert list(theirs.iterdir()) == []


@pytest.mark.parametrize("named", ["{tmp}", "/nonexistent", "relative", ""])
def test_a_bad_xdg_folder_is_passed_over(
    no_variables: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """The folder of all users, where anyone may be first to make the name."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", named.format(tmp=no_variables))
    found = runtime_folder()
    assert not found.is_relative_to(no_variables)
    assert found.stat().st_uid == os.geteuid()
    assert not found.stat().st_mode & 0o077


def test_where_no_place_will_do_there_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "advisor"
    monkeypatch.setattr(private_folders, "_places", lambda: iter([(place, place)]))
    with pytest.raises(NotPrivate, match="is a link or not a folder: remove it, or set ADVISOR_"):
        runtime_folder()


def test_planted_files_are_not_read(home: Path, tmp_path: Path) -> None:
    runtime_folder()
    (tmp_path / "secret").write_text("secret")
    (home / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(home / "pipe")
    (home / "long").write_bytes(b"x" * 11)
    for name in ("link", "pipe", "long"):
        with pytest.raises(NotPrivate):
            read_private(home / name, 10)
    with pytest.raises(FileNotFoundError):
        read_private(home / "none", 10)
    home.chmod(0o755)
    with pytest.raises(NotPrivate), private_file(home / "long"):
        pass


@needs_root
def test_a_file_of_another_user_is_not_read(home: Path) -> None:
    runtime_folder()
    (home / "file").touch()
    os.chown(home / "file", NOBODY, NOBODY)
    with pytest.raises(NotPrivate, match="belongs to another user"):
        read_private(home / "file", 10)


def test_no_code_names_the_folder_of_all_users() -> None:
    """Only `tempfile` may choose there: new names that nobody can predict, mode 0700."""
    named = re.compile(r"""["' =(,]/(?:var/)?tmp\b|gettempdir|mktemp\(|TMPDIR""")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for package in ("advisor", "plugins")
        for path in (ROOT / package).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if named.search(line)
    ]
    assert found == []
