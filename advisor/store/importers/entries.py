"""What an importer yields, besides probes."""

import hashlib

import msgspec


class BadEntry(msgspec.Struct, frozen=True):
    """A part of a file that is not taken.

    `place`: line or result within the file, "" for the file as a whole or where it is not known.
    `why`: one sentence. `count`: how many such parts it stands for.
    """

    place: str
    why: str
    count: int = 1


class RefusedError(Exception):
    """An entry is not taken; the message is the sentence that says why."""


def identity(content: str) -> str:
    """The session of an imported record: the same for the same content, whenever it is imported."""
    return f"import:{hashlib.sha256(content.encode()).hexdigest()[:32]}"
