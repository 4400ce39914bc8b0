"""The digests of pairs in a shared history, kept on this host and continued where they ended."""

from functools import partial

from advisor.domain.endpoints import Pair
from advisor.domain.records import AdviceRecord, Record
from advisor.store.backend import Digested
from advisor.store.digest import (
    AdviceFacts,
    Digester,
    JournalDigest,
    decode_digest,
    encode_digest,
)
from advisor.store.digest_cache import DigestFiles
from advisor.store.postgres.database import Database, Unreachable
from advisor.store.postgres.pair_rows import rows_after
from advisor.store.postgres.queries import one_row
from advisor.store.postgres.rows import Reader, Row, mark_of, record_of
from advisor.store.remarks import Standing


class PairDigests:
    """The digests, of which `place.read_to` is the number of the last row in it."""

    def __init__(self, database: Database, files: DigestFiles) -> None:
        self._database = database
        self._files = files
        self._known: dict[Pair, JournalDigest] = {}

    def look(
        self,
        history_id: str,
        reader: Reader,
        pair: Pair,
        waiting: list[Record],
        newest: int | None = None,
    ) -> Digested:
        """The digest of a pair with what waits to be sent; as far as the database answers.

        `newest`: the number of its newest row, where it is known already.
        """
        key = f"{history_id}\0{reader.account}\0{pair.source}\0{pair.destination}".encode()
        digest = self._known.get(pair) or self._files.load(key)
        self._known[pair] = digest
        if newest is None or newest != digest.place.read_to:
            before = digest.place.read_to
            try:
                digest = self._caught_up(pair, digest, reader)
            except Unreachable:
                digest = self._known[pair]
            if digest.place.read_to != before:
                self._files.save(key, digest)
        if waiting:
            digest = _with(digest, waiting)
        said = digest.standing()
        return Digested(digest, said, self._newest_advice(pair, digest, said, waiting, reader))

    def _caught_up(self, pair: Pair, digest: JournalDigest, reader: Reader) -> JournalDigest:
        digester, place = Digester(digest), digest.place
        for row in rows_after(self._database, pair, place.read_to, place.tail):
            if row is None:
                # Another history is at this address, or this one was restored.
                digester = Digester(JournalDigest())
                self._known[pair] = digester.digest
            else:
                _add(digester, pair, row, reader)
        return digester.digest

    def _newest_advice(
        self,
        pair: Pair,
        digest: JournalDigest,
        said: Standing,
        waiting: list[Record],
        reader: Reader,
    ) -> AdviceRecord | None:
        given = [f.advice for f in digest.sessions if f.advice and f.session not in said.deleted]
        newest = max(given, key=lambda a: (a.recorded_s, -a.offset), default=None)
        if newest is None:
            return None
        if newest.length:
            return _waiting_advice(newest, waiting)
        try:
            row = self._database.ask(partial(one_row, pair=pair, number=newest.offset))
        except Unreachable:
            return None
        record = record_of(row, pair, reader) if row else None
        return record if isinstance(record, AdviceRecord) else None


def _add(digester: Digester, pair: Pair, row: Row, reader: Reader) -> None:
    digest, record = digester.digest, record_of(row, pair, reader)
    if record is None:
        digest.skipped += 1
    else:
        digester.add(record, row.number, 0)
    digest.place.read_to, digest.place.tail = row.number, mark_of(row)


def _with(digest: JournalDigest, waiting: list[Record]) -> JournalDigest:
    """A copy of the digest with records that are not sent, numbered from 1 with a length."""
    digest = decode_digest(encode_digest(digest))
    digester = Digester(digest)
    for number, record in enumerate(waiting, 1):
        digester.add(record, number, 1)
    return digest


def _waiting_advice(facts: AdviceFacts, waiting: list[Record]) -> AdviceRecord | None:
    record = waiting[facts.offset - 1]
    return record if isinstance(record, AdviceRecord) else None
