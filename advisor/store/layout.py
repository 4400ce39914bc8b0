"""The layout of a store.

    DIRECTORY/SOURCE--DESTINATION--HASH/journal.jsonl
    DIRECTORY/SOURCE--DESTINATION--HASH/journal.lock
    DIRECTORY/SOURCE--DESTINATION--HASH/raw/SESSION/NAME.gz
    DIRECTORY/SOURCE--DESTINATION--HASH/raw/SESSION/events.jsonl.gz

Directory names are for people; the pair of a directory is defined by the records in it.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

from advisor.domain.endpoints import Pair

JOURNAL: Final = "journal.jsonl"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
# Two of these, the hash and the dashes stay well below the limit of 255 bytes for a file name.
_LONGEST: Final = 80


def shipped_profiles() -> list[Path]:
    """The folder of the reference profiles shipped with the program; empty if missing."""
    package = Path(__file__).parents[1]
    # Inside the package when installed, next to it in a checkout.
    places = (package / "profiles", package.parent / "profiles")
    return [place for place in places if place.is_dir()][:1]


def shipped_recording() -> Path | None:
    """The folder of the recorded session shipped with the program; None if missing."""
    return next((p / "demo" for p in shipped_profiles() if (p / "demo").is_dir()), None)


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text).strip(".-")[:_LONGEST] or "unnamed"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def pair_directory(store: Path, pair: Pair) -> Path:
    """The directory of a pair's records. Different pairs have different directories."""
    # A host name cannot contain NUL, so two pairs never join to the same text.
    tag = _hash(f"{pair.source}\0{pair.destination}")
    return store / f"{_slug(pair.source)}--{_slug(pair.destination)}--{tag}"


def safe_name(text: str) -> str:
    """The text itself if it can be a file name, else a readable and unique substitute."""
    slug = _slug(text)
    return slug if slug == text else f"{slug}--{_hash(text)}"
