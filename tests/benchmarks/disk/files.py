"""Whether files arrived, and their removal."""

from __future__ import annotations

import filecmp
import shutil
import time
from pathlib import Path

_TIMEOUT_S = 20.0


def difference(source: Path, target: Path) -> str:
    """The first difference between what was sent and what arrived; "" when it is the same."""
    if not source.is_dir():
        return _file_difference(source, target)
    wanted, there = _names(source), _names(target)
    if wanted != there:
        return f"{len(wanted - there)} files are missing, {len(there - wanted)} are not ours"
    found = (_file_difference(source / name, target / name) for name in sorted(wanted))
    return next((text for text in found if text), "")


def _names(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def _file_difference(source: Path, target: Path) -> str:
    if not target.is_file():
        return f"{target.name} is missing"
    filecmp.clear_cache()
    return "" if filecmp.cmp(source, target, shallow=False) else f"{target.name} differs"


def remove(target: Path) -> None:
    """Whatever is there; a server that has not noticed its client's end may still add to it."""
    deadline_s = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
            return
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.1)
