"""Where things lie in a store.

    DIRECTORY/SOURCE--DESTINATION--HASH/journal.jsonl
    DIRECTORY/SOURCE--DESTINATION--HASH/journal.lock
    DIRECTORY/SOURCE--DESTINATION--HASH/raw/SESSION/NAME.gz
    DIRECTORY/SOURCE--DESTINATION--HASH/raw/SESSION/events.jsonl.gz

Directory names are for people; which pair a directory is of is said by the records in it.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

from advisor.domain.endpoints import Pair

JOURNAL: Final = "journal.jsonl"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
# Two of them, the hash and the dashes stay well below the 255 bytes a file name may have.
_LONGEST: Final = 80


def shipped_profiles() -> list[Path]:
    """Where the reference profiles are that came with the program; empty when they are missing."""
    package = Path(__file__).parents[1]
    # Inside the package when it was installed, beside it in a checkout.
    places = (package / "profiles", package.parent / "profiles")
    return [place for place in places if place.is_dir()][:1]


def shipped_recording() -> Path | None:
    """The folder of the recorded session that came with the program; None when it is missing."""
    return next((p / "demo" for p in shipped_profiles() if (p / "demo").is_dir()), None)


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text).strip(".-")[:_LONGEST] or "unnamed"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def pair_directory(store: Path, pair: Pair) -> Path:
    """Where a pair's records are. Different pairs have different directories, however alike."""
    # No host name has a NUL in it, so two pairs never join to the same text.
    tag = _hash(f"{pair.source}\0{pair.destination}")
    return store / f"{_slug(pair.source)}--{_slug(pair.destination)}--{tag}"


def safe_name(text: str) -> str:
    """The text itself when it can be a file name, else a readable and unique stand-in."""
    slug = _slug(text)
    return slug if slug == text else f"{slug}--{_hash(text)}"
