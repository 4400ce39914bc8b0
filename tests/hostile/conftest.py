"""A local user who plants things where the program looks."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can act as a second user of this machine"
)
_ROOTS = Path("/run/advisor")


@pytest.fixture
def no_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user whom cron starts: no folder is named, and the home is this test's. Returns what the
    user takes for the folder of temporary files."""
    for name in ("ADVISOR_RUNTIME_DIR", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    everyones = tmp_path / "tmp"
    everyones.mkdir()
    everyones.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(everyones))
    was_there = _ROOTS.exists()
    yield everyones
    if not was_there:
        for remove in (
            *(lock.unlink for lock in _ROOTS.glob("probe-*.lock")),
            (_ROOTS / "lab").rmdir,
            _ROOTS.rmdir,
        ):
            with contextlib.suppress(OSError):  # Not there, or not empty: somebody's.
                remove()


def give_away(path: Path) -> None:
    """Give a path and all below it to another user, where this one may."""
    if os.geteuid() == 0:
        for one in (path, *path.rglob("*")):
            os.chown(one, NOBODY, NOBODY, follow_symlinks=False)
