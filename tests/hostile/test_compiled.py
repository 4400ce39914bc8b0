"""What somebody else put where compiled code is cached is not loaded."""

import ctypes
import os
import shutil
from pathlib import Path

import pytest

from advisor.hosts import compiled

from .conftest import NOBODY, needs_root

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "answer.c"
    path.write_text("int answer(void) { return 42; }")
    return path


def library(source: Path) -> Path:
    made = compiled.shared_library(source)
    assert made is not None
    return made


def assert_is_compiled_again(source: Path, planted: Path) -> None:
    assert library(source) == planted
    assert not planted.is_symlink()
    assert planted.stat().st_uid == os.geteuid()
    assert planted.stat().st_mode & 0o022 == 0
    assert ctypes.CDLL(str(planted)).answer() == 42


def test_nobody_else_can_write_it_whatever_the_umask(source: Path) -> None:
    before = os.umask(0)
    try:
        made = library(source)
    finally:
        os.umask(before)
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert made.stat().st_mode & 0o022 == 0
    assert library(source) == made


def test_one_that_others_may_write_is_compiled_again(source: Path) -> None:
    made = library(source)
    made.write_text("not the library")
    made.chmod(0o775)
    assert_is_compiled_again(source, made)


@needs_root
def test_one_of_another_account_is_compiled_again(source: Path) -> None:
    made = library(source)
    made.write_text("not the library")
    os.chown(made, NOBODY, NOBODY)
    assert_is_compiled_again(source, made)


def test_a_link_is_not_followed(source: Path, tmp_path: Path) -> None:
    made = library(source)
    (tmp_path / "planted").write_text("not the library")
    made.unlink()
    made.symlink_to(tmp_path / "planted")
    assert_is_compiled_again(source, made)
    assert (tmp_path / "planted").read_text() == "not the library"


@pytest.mark.parametrize("mode", [0o770, 0o755, 0o777])
def test_from_a_folder_that_others_may_enter_nothing_is_loaded(source: Path, mode: int) -> None:
    library(source).parent.chmod(mode)
    assert compiled.shared_library(source) is None


@needs_root
def test_from_a_folder_of_another_account_nothing_is_loaded(source: Path) -> None:
    os.chown(library(source).parent, NOBODY, NOBODY)
    assert compiled.shared_library(source) is None
