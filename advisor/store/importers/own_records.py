"""Advisor's own JSON lines: exported histories and profiles, and sealed profiles.

What is taken are measurements and remarks. A request could start programs when it is resumed, and
advice has lines that people run: they are taken only where the user says that the file is their
own (`restore`). A sealed file begins with a line that counts and digests the rest; nothing of it is
taken unless both agree.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import AdviceRecord, ProfileRecord, Record, SessionRecord
from advisor.hosts.decoding import BadData, decoded
from advisor.store.importers.entries import REFUSALS, BadEntry, RefusedError
from advisor.store.importers.renaming import Renaming
from advisor.store.importers.usable import require_usable

SEALED: Final = "advisor profile"
FORMAT: Final = 1
_LONGEST_LINE: Final = 2**20

_decoder: Final[msgspec.json.Decoder[Record]] = msgspec.json.Decoder(Record)


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a sealed file: what the rest consists of, and what wrote it."""

    sealed: str
    format: int
    program: str
    records: int
    sha256: str


_seals: Final = msgspec.json.Decoder(Seal)


def looks_like(line: str) -> bool:
    """Whether a file with this first line consists of records, sealed or not."""
    return _has(line, "record") or is_sealed(line)


def is_sealed(line: str) -> bool:
    """Whether a file with this first line is sealed."""
    return _has(line, "sealed")


def _has(line: str, name: str) -> bool:
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get(name), str)


def read(
    lines: Iterable[str], pair: Pair | None, *, restore: bool = False, first: int = 1
) -> Iterator[Record | BadEntry]:
    """The records of the lines, and those that are not taken. `pair` replaces theirs.

    `restore`: the file is the user's own, and everything in it is taken. `first`: the number of the
    first line.
    """
    renaming = Renaming(pair) if pair else None
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        place = f"line {number}"
        record: Record | None
        try:
            record = _record(line, restore)
            if renaming:
                record = renaming.record(place, record)
        except REFUSALS as refused:
            yield BadEntry.about(place, refused)
            continue
        if record is not None:
            yield record
    if renaming:
        yield from renaming.rest()


def read_sealed(text: str, pair: Pair | None, *, restore: bool) -> Iterator[Record | BadEntry]:
    """The records of a sealed file, or the one reason why none is taken."""
    head, _, rest = text.partition("\n")
    try:
        seal = decoded(_seals, head.encode(), _LONGEST_LINE)
    except BadData as error:
        yield BadEntry("line 1", f"its seal is damaged: {error}")
        return
    lines = rest.splitlines()
    if seal.sealed != SEALED or seal.format != FORMAT:
        yield BadEntry("line 1", f"it was sealed by another version ({seal.program}): update this")
    elif hashlib.sha256(rest.encode()).hexdigest() != seal.sha256 or len(lines) != seal.records:
        yield BadEntry("", "it is not what was sealed: it was damaged or changed on its way")
    else:
        yield from read(lines, pair, restore=restore, first=2)


def seal_of(body: str, records: int, program: str) -> str:
    """The first line of a sealed file with this rest."""
    seal = Seal(
        sealed=SEALED,
        format=FORMAT,
        program=program,
        records=records,
        sha256=hashlib.sha256(body.encode()).hexdigest(),
    )
    return msgspec.json.encode(seal).decode() + "\n"


def _record(line: str, restore: bool) -> Record:
    """The record of a line. Raises RefusedError."""
    try:
        record = decoded(_decoder, line.encode(), _LONGEST_LINE)
    except BadData as error:
        raise RefusedError(f"it is no record of the history: {error}") from None
    require_usable(record, line.strip())
    return record if restore else _without_orders(record)


def _without_orders(record: Record) -> Record:
    """The record without what another person could have this one run. Raises RefusedError."""
    if isinstance(record, AdviceRecord):
        raise RefusedError(
            "advice contains command lines: give --restore to take those of your own files"
        )
    if isinstance(record, SessionRecord | ProfileRecord):
        return msgspec.structs.replace(record, request={})
    return record
