"""Files that every user of this host may change: what they start or configure is not trusted."""

import stat
from pathlib import Path


def changeable_by_all(file: Path) -> Path | None:
    """What lets every user replace the content of an existing file: itself, or a folder above it,
    also above what it is a link to. None if there is nothing of the kind, or it cannot be told.

    Groups and other owners are not looked at: sites share folders in such ways on purpose.
    """
    try:
        real = file.resolve(strict=True)
        places = [real, *real.parents, *file.absolute().parents]
        return next((place for place in places if _is_open(place)), None)
    except OSError:
        return None


def _is_open(place: Path) -> bool:
    mode = place.stat().st_mode
    # In a sticky folder each user changes files of their own alone.
    is_sticky = stat.S_ISDIR(mode) and mode & stat.S_ISVTX
    return bool(mode & stat.S_IWOTH and not is_sticky)
