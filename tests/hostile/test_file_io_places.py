"""Where file I/O is measured, only what an advisor made is removed.

Somebody's own folder may have such a name, and in a folder of a group another account may rename
what is there.
"""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.domain.file_io import SCRATCH_PREFIX
from advisor.hosts import scratch
from advisor.hosts.file_io_place import (
    REMOVED_WITH_INPUT,
    RUN_IN_PLACE,
    new_place,
    opened_place,
    remove_left_over,
    remove_place,
)
from tests.scratch import marked

from .conftest import NOBODY, needs_root

LONG_AGO_S = time.time() - 7200


def results(folder: Path) -> Path:
    """Somebody's own folder."""
    (folder / "sub").mkdir(parents=True)
    (folder / "data").write_text("precious")
    (folder / "sub" / "thesis").write_text("precious")
    return folder


def assert_kept(folder: Path) -> None:
    assert (folder / "data").read_text() == "precious"
    assert (folder / "sub" / "thesis").read_text() == "precious"


def aged(folder: Path) -> Path:
    os.utime(folder, (LONG_AGO_S, LONG_AGO_S))
    return folder


def test_an_old_folder_that_only_has_such_a_name_is_kept(tmp_path: Path) -> None:
    own = aged(results(tmp_path / f"{SCRATCH_PREFIX}io-results-of-2019"))
    left = aged(marked(tmp_path / f"{SCRATCH_PREFIX}io-left"))
    remove_left_over(str(tmp_path))
    assert_kept(own)
    assert not left.exists()


def test_an_old_folder_that_was_given_such_a_name_is_kept(tmp_path: Path) -> None:
    """Even one with a mark: that names the folder as it was made."""
    place = new_place(str(tmp_path))
    results(tmp_path / "results").rename(tmp_path / f"{SCRATCH_PREFIX}io-1")
    place.rename(aged(tmp_path / f"{SCRATCH_PREFIX}io-1") / "place")
    renamed = aged(tmp_path / f"{SCRATCH_PREFIX}io-1")
    (renamed / scratch.MARK).write_text(place.name)
    aged(renamed)
    remove_left_over(str(tmp_path))
    assert_kept(renamed)


@needs_root
def test_an_old_place_of_another_account_is_kept(tmp_path: Path) -> None:
    place = marked(tmp_path / f"{SCRATCH_PREFIX}io-1")
    os.chown(place, NOBODY, NOBODY)
    aged(place)
    remove_left_over(str(tmp_path))
    assert place.is_dir()


def swapped(place: Path) -> Path:
    """Another account puts somebody's folder where the place was."""
    place.rename(place.with_name("aside"))
    return results(place.with_name("results")).rename(place)


def test_what_took_the_name_of_a_place_is_neither_used_nor_removed(tmp_path: Path) -> None:
    place = new_place(str(tmp_path))
    swapped(place)
    remove_place(place)
    with pytest.raises(OSError, match="it is kept"), opened_place(place):
        pass
    assert_kept(place)


def run(line: str, place: Path, *argv: str) -> int:
    """The exit status of such a shell, of which the standard input is closed already."""
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", place, *argv], stdin=subprocess.DEVNULL, check=False
    )
    return done.returncode


def test_no_shell_works_in_what_took_the_name_of_a_place(tmp_path: Path) -> None:
    place = new_place(str(tmp_path))
    assert run(RUN_IN_PLACE, place, "touch", "written") == 0
    assert (place / "written").exists()
    swapped(place)
    assert run(RUN_IN_PLACE, place, "rm", "data") != 0
    run(REMOVED_WITH_INPUT, place)
    assert_kept(place)


def test_a_shell_removes_the_place_when_the_program_is_killed(tmp_path: Path) -> None:
    place = new_place(str(tmp_path))
    (place / "data").touch()
    assert run(REMOVED_WITH_INPUT, place) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("remove", [remove_place, lambda place: remove_left_over(place.parent)])
def test_what_takes_the_name_while_a_place_is_removed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remove: Callable[[Path], None]
) -> None:
    place = aged(new_place(str(tmp_path)))
    real = scratch.is_scratch

    def then_swapped(folder: int, name: str) -> bool:
        found = real(folder, name)
        if found and not place.with_name("aside").exists():
            swapped(place)
        return found

    monkeypatch.setattr(scratch, "is_scratch", then_swapped)
    remove(place)
    assert_kept(place)
