"""The folder in which file I/O is measured: a scratch folder below the one that is measured.

It is recognised by its mark, like every scratch folder: what only has such a name is somebody's
own, and is left alone.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from advisor.domain.file_io import SCRATCH_PREFIX
from advisor.hosts import scratch

_PURPOSE: Final = "io-"
_LEFT_OVER_S: Final = 3600.0
_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC

# A shell enters it once and for all, and then looks whether it is the right one.
_ENTERED: Final = f'cd -- "$1" && [ "$(cat {scratch.MARK})" = "${{1##*/}}" ]'

# The folder is not part of fio's own syntax, in which colons, dollars and backslashes are special.
RUN_IN_PLACE: Final = f'{_ENTERED} && shift && exec "$@"'
"""A shell's line that runs a command in a place: its arguments are the place and the command."""

# If this process is killed: fio, which the same event ends, then no longer opens files.
REMOVED_WITH_INPUT: Final = (
    f"{_ENTERED} || exit; cat >/dev/null; sleep 1; "
    f'rm -rf -- ./*; rm -f -- {scratch.MARK} && rmdir -- "$1"'
)
"""A shell's line that removes a place, its argument, when its standard input is closed."""


def new_place(folder: str) -> Path:
    """A folder that only this user may enter: nobody else can place a file in it. Raises OSError.

    Its path is absolute.
    """
    place = Path(folder).absolute() / scratch.new_name(_PURPOSE)
    with _opened_above(place) as above:
        scratch.make(above, place.name, for_all=False)
    return place


@contextlib.contextmanager
def opened_place(place: Path) -> Iterator[int]:
    """Open it. Raises OSError, also if it was replaced by another folder."""
    with _opened_above(place) as above, scratch.opened(above, place.name) as opened:
        yield opened


def remove_place(place: Path) -> None:
    """Remove it, if it still exists, as far as possible."""
    with contextlib.suppress(OSError), _opened_above(place) as above:
        scratch.remove(above, place.name)


def remove_left_over(folder: str) -> None:
    """Remove the places in a folder that were not used for an hour.

    Active places are touched before each measurement, and none takes that long.
    """
    for place in Path(folder).absolute().glob(f"{SCRATCH_PREFIX}{_PURPOSE}*"):
        with contextlib.suppress(OSError):
            with opened_place(place) as opened:
                age_s = time.time() - os.fstat(opened).st_mtime
            if age_s > _LEFT_OVER_S:
                remove_place(place)


@contextlib.contextmanager
def _opened_above(place: Path) -> Iterator[int]:
    above = os.open(place.parent, _FOLDER)
    try:
        yield above
    finally:
        os.close(above)
