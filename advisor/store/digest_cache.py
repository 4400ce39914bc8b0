"""Digests of journals, cached in files, so that listing all sessions need not read every journal.

    CACHE/digests/HASH      of the journal whose absolute path has this hash

When its journal has grown, a digest is continued where it ended; when another journal has replaced
it, the digest is rebuilt. The cache can always be rebuilt: a file that is damaged or was written by
another version is ignored, and one that cannot be written is not an error.
"""

import contextlib
import hashlib
import os
import sys
import zlib
from pathlib import Path
from typing import Final

import msgspec

import advisor
from advisor.domain.records import AdviceRecord, Record
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.store.backend import Digested
from advisor.store.digest import Digester, JournalDigest, decode_digest, encode_digest
from advisor.store.errors import explaining
from advisor.store.files import make_directory, replace_file
from advisor.store.reading import can_resume, read_range, unread_lines
from advisor.store.remarks import Standing

# Increase with every change of a digest's content and of the records: lines that were skipped may
# then be records.
_FORMAT: Final = 5
_MADE_FOR: Final = f"{_FORMAT} {advisor.__version__} {sys.byteorder} {sys.maxsize}\n".encode()
_CHECK_BYTES: Final = 4
# Below this size, reading the journal is as fast as reading its digest.
_SMALL_BYTES: Final = 32 * 2**10

_decoder: Final[msgspec.json.Decoder[Record]] = msgspec.json.Decoder(Record)
_advice_decoder: Final = msgspec.json.Decoder(AdviceRecord)


class DigestCache:
    """The digests of journals, cached in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._files = DigestFiles(folder)
        self._known: dict[Path, JournalDigest] = {}

    def look(self, journal: Path) -> Digested:
        """A journal's present digest, its remarks in force, and the newest advice that counts.

        A missing journal counts as empty. Raises StoreError.
        """
        journal = journal.absolute()
        with explaining(journal, "read"):
            try:
                handle = os.open(journal, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                self._known.pop(journal, None)
                digest = JournalDigest()
                return Digested(digest, digest.standing(), None)
            try:
                digest = self._caught_up(journal, handle)
                said = digest.standing()
                return Digested(digest, said, _newest_advice(handle, digest, said))
            finally:
                os.close(handle)

    def _caught_up(self, journal: Path, handle: int) -> JournalDigest:
        digest = self._known.get(journal) or self._files.load(os.fsencode(journal))
        status = os.fstat(handle)
        if not can_resume(handle, status, digest.place):
            digest = JournalDigest()
        before = digest.place.read_to
        _catch_up(handle, status, digest)
        self._known[journal] = digest
        if digest.place.read_to != before and digest.place.read_to >= _SMALL_BYTES:
            self._files.save(os.fsencode(journal), digest)
        return digest


class DigestFiles:
    """Digests in files of `folder`, each under a key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "digests"

    def load(self, key: bytes) -> JournalDigest:
        """The digest that is kept under a key; an empty one without."""
        with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
            data = self._file(key).read_bytes()
            check, rest = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
            if rest.startswith(_MADE_FOR) and check == _checksum(rest):
                return decode_digest(rest[len(_MADE_FOR) :])
        return JournalDigest()

    def save(self, key: bytes, digest: JournalDigest) -> None:
        """Keep a digest under a key, if that is possible."""
        # MessagePack lacks some numbers that Python has: such a digest is built again each time.
        with contextlib.suppress(OSError, OverflowError):
            data = _MADE_FOR + encode_digest(digest)
            make_directory(self._folder)
            replace_file(self._file(key), _checksum(data) + data, sync=False)

    def _file(self, key: bytes) -> Path:
        return self._folder / hashlib.sha256(key).hexdigest()[:32]


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECK_BYTES, "big")


def _catch_up(handle: int, status: os.stat_result, digest: JournalDigest) -> None:
    digester = Digester(digest)
    for line in unread_lines(handle, status, digest.place):
        try:
            record = decoded(_decoder, line, LINE_LIMIT_BYTES)
        except BadData:
            digest.skipped += 1
        else:
            digester.add(record, digest.place.read_to, len(line))


def _newest_advice(handle: int, digest: JournalDigest, said: Standing) -> AdviceRecord | None:
    given = [f.advice for f in digest.sessions if f.advice and f.session not in said.deleted]
    newest = max(given, key=lambda a: (a.recorded_s, -a.offset), default=None)
    if newest is None:
        return None
    line = read_range(handle, newest.offset, newest.offset + newest.length)
    with contextlib.suppress(BadData):
        return decoded(_advice_decoder, line, LINE_LIMIT_BYTES)
    return None
