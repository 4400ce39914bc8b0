"""Where a demonstration has its files, and what one that was killed has left.

Its temporary folder is named in the user's private runtime folder: the next start finds it there,
and the lab by its name. Everything else ends with the process.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from advisor.domain.problem import ProblemKind
from advisor.hosts.private_folders import NotPrivate, read_private, runtime_folder
from advisor.lab.lifecycle import take_down
from advisor.store.errors import StoreError, explaining

LAB: Final = "fleet-demo"
_PATH_BYTES: Final = 4096


@contextlib.contextmanager
def own_place() -> Iterator[Path]:
    """An empty folder for the block, after what is left of an earlier one was removed.

    This user's; others may pass through it to what is theirs, and see nothing. It is removed in the
    end, and so is the lab. Raises StoreError, LabError; also if another one is running.
    """
    try:
        known = runtime_folder("fleet-demo")
    except NotPrivate as error:
        raise StoreError.about("", error) from None
    lock = FileLock(known / "lock", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise StoreError(
            "a demonstration is running already",
            kind=ProblemKind.BUSY,
            remedy="end it with Ctrl-C where it runs",
        ) from None
    named = known / "folder"
    try:
        clear(named)
        with explaining(named, "write"):
            folder = Path(tempfile.mkdtemp(prefix="advisor-"))
            named.write_text(str(folder))
            folder.chmod(0o711)
        yield folder
    finally:
        try:
            clear(named)
        finally:
            lock.release()


def clear(named: Path) -> None:
    """Remove the lab, and the folder that is named in this file. Raises LabError, StoreError."""
    take_down(LAB)
    with contextlib.suppress(FileNotFoundError):
        try:
            folder = Path(os.fsdecode(read_private(named, _PATH_BYTES)))
        except NotPrivate as error:
            raise StoreError.about("", error) from None
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            raise StoreError(f"{folder} cannot be removed", remedy="remove it manually")
        named.unlink()
