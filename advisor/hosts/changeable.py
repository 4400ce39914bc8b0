"""Files that every user of this host may change: what they start or configure is not trusted."""

import os
import stat
from pathlib import Path


def changeable_by_all(file: Path) -> Path | None:
    """What lets every user replace the content of an existing file: itself, or a folder above it,
    also above what it is a link to. None if there is nothing of the kind, or it is unknown.

    Groups and other owners are not looked at: sites share folders in such ways on purpose.
    """
    try:
        real = file.resolve(strict=True)
        places = [real, *real.parents, *file.absolute().parents]
        return next((place for place in places if is_open_to_all(place.stat())), None)
    except OSError:
        return None


def is_open_to_all(status: os.stat_result) -> bool:
    """Whether every user may change the file, or replace what is in the folder.

    In a sticky folder each user changes files of their own alone.
    """
    mode = status.st_mode
    is_sticky = stat.S_ISDIR(mode) and mode & stat.S_ISVTX
    return bool(mode & stat.S_IWOTH and not is_sticky)
