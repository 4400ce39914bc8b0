"""Results of an importer other than probes."""

import hashlib

import msgspec


class BadEntry(msgspec.Struct, frozen=True):
    """A part of a file that is not imported.

    `place`: line or result within the file, "" for the whole file or where it is not known.
    `why`: one sentence. `count`: the number of such parts it stands for.
    """

    place: str
    why: str
    count: int = 1


class RefusedError(Exception):
    """An entry is not imported; the message is a sentence that says why."""


def identity(content: str) -> str:
    """The session id of an imported record: depends only on its content."""
    return f"import:{hashlib.sha256(content.encode()).hexdigest()[:32]}"
