import ctypes
from pathlib import Path

import pytest

from advisor.hosts.compiled import shared_library


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "advisor" / "compiled"


def source(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "answer.c"
    path.write_text(text)
    return path


def test_it_is_compiled_once_and_anew_when_the_source_changes(tmp_path: Path, cache: Path) -> None:
    first = shared_library(source(tmp_path, "int answer(void) { return 42; }"))
    if first is None:
        pytest.skip("there is no C compiler here: apt-get install gcc libc6-dev")
    assert ctypes.CDLL(str(first)).answer() == 42
    made = first.stat().st_mtime_ns
    assert shared_library(tmp_path / "answer.c") == first
    assert first.stat().st_mtime_ns == made
    second = shared_library(source(tmp_path, "int answer(void) { return 43; }"))
    assert second is not None
    assert second != first
    assert ctypes.CDLL(str(second)).answer() == 43
    assert {p.suffix for p in cache.iterdir()} == {".so"}


def test_what_does_not_compile_is_none(tmp_path: Path, cache: Path) -> None:
    assert shared_library(source(tmp_path, "no C at all")) is None


def test_without_a_compiler_there_is_none(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shared_library(source(tmp_path, "int answer(void) { return 42; }")) is None


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert shared_library(source(tmp_path, "int answer(void) { return 42; }")) is None
