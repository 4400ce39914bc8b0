"""Results of an importer other than probes."""

import hashlib
from functools import lru_cache

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.printable import escape_fields


class BadEntry(msgspec.Struct, frozen=True):
    """A part of a file that is not imported.

    `place`: line or result within the file, "" for the whole file or where it is not known.
    `why`: one sentence, made printable. `count`: the number of such parts it stands for.
    """

    place: str
    why: str
    count: int = 1

    def __post_init__(self) -> None:
        escape_fields(self, ("place", "why"))


class RefusedError(Exception):
    """An entry is not imported; the message is a sentence that says why."""


# The same few hosts occur in every line.
@lru_cache(maxsize=1024)
def pair_of(source: str, destination: str) -> Pair:
    """The hosts that a file names. Raises RefusedError for what cannot be the name of one."""
    pair = Pair.named(source, destination)
    if pair is None:
        raise RefusedError(
            "its host names are empty, too long, or contain control characters: name them with "
            "--pair"
        )
    return pair


def identity(content: str) -> str:
    """The session id of an imported record: depends only on its content."""
    return f"import:{hashlib.sha256(content.encode()).hexdigest()[:32]}"
