"""The history in PostgreSQL, shared by many users and hosts."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from platformdirs import user_cache_path

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.events import AnyEvent
from advisor.domain.problem import ProblemKind
from advisor.domain.records import ProbeRecord, Record
from advisor.hosts.decoding import BadData, decoded
from advisor.store.backend import Digested
from advisor.store.digest_cache import DigestFiles
from advisor.store.errors import StoreError
from advisor.store.files import make_directory, replace_file
from advisor.store.postgres import queries
from advisor.store.postgres.address import Address
from advisor.store.postgres.database import ANSWER_LIMIT_S, Database, Unreachable
from advisor.store.postgres.local_copy import LocalCopy
from advisor.store.postgres.pair_digests import PairDigests
from advisor.store.postgres.pair_rows import PairRows
from advisor.store.postgres.queries import StoredPair
from advisor.store.postgres.rows import Reader, Takes, hosts_of
from advisor.store.postgres.schema import Identity
from advisor.store.postgres.sending import Sender, Sent
from advisor.store.postgres.session_files import SessionFiles, SharedEventLog
from advisor.store.postgres.spool import Spool, Waiting

_T = TypeVar("_T")

_MOST_IDENTITY_BYTES: Final = 4096
_identities: Final = msgspec.json.Decoder(Identity)

_NEWEST: Final = "history.json"
"""The file with the identity of the history that was last at this address."""


class PostgresBackend:
    """The history at `address`; see Backend.

    While the database cannot be reached, records are kept in a spool on this host, and questions
    are answered by what is known here; `notices` then say so. A record with the same content is the
    same record: it is stored once. `limit_s`: how long each answer of the database is waited for.
    """

    def __init__(
        self,
        address: Address,
        limit_s: float = ANSWER_LIMIT_S,
        cache: Path | None = None,
        database: Database | None = None,
        takes: Takes = "without orders",
    ) -> None:
        """`cache`: where copies of what was read are kept, by default in the user's cache.

        `takes`: what is taken of other users, see rows.Reader.
        """
        self._takes = takes
        self._last = Identity()
        self.address = address
        self._cache = cache or user_cache_path("advisor")
        self._folder = self._cache / "shared" / address.key
        self._database = database or Database(address, limit_s)
        self.spool = Spool(address)
        self._sender = Sender(self._database, self.spool)
        self._files = SessionFiles(self._database, self.spool)
        self._rows = PairRows(self._database)
        self._digests = PairDigests(self._database, DigestFiles(self._folder))

    @property
    def argument(self) -> str:
        """The address."""
        return self.address.uri

    @property
    def notices(self) -> list[str]:
        """That the database was not reached, and what waits to be sent to it."""
        said = []
        if trouble := self._database.trouble:
            said.append(f"{trouble}: results are those known on this host.")
        if waiting := len(self.spool):
            said.append(
                f"{_number(waiting, 'record')} on this host wait{'s' * (waiting == 1)} to be sent "
                "to the shared history: `advisor store send`."
            )
        if refused := self.spool.refused:
            said.append(
                f"The shared history did not take {_number(refused, 'record')}, kept in "
                f"{self.spool.folder / 'refused.jsonl'}: the session is somebody else's."
            )
        return said

    @property
    def missed(self) -> int:
        """How often the database was not reached so far."""
        return self._database.missed

    def another(self) -> "PostgresBackend":
        """One more of the same, for another thread, with a connection of its own."""
        return PostgresBackend(
            self.address,
            cache=self._cache,
            database=self._database.another(),
            takes=self._takes,
        )

    def check_access(self, pair: Pair) -> None:
        """Raises StoreError if no record could be stored now."""
        self._sender.check_access()

    def append(self, record: Record) -> None:
        """Store a record; it is in the history, or in the spool on this disk, when this returns."""
        self._store(record.pair, [Waiting(record)])

    def append_new(self, pair: Pair, new: Mapping[str, ProbeRecord]) -> int:
        """Store the probes of a pair whose `session`, the key, is not stored; their number."""
        return self._store(pair, [Waiting(record, only_new=True) for record in new.values()])

    def append_missing(self, pair: Pair, records: Sequence[Record]) -> int:
        """Store the records of a pair that are not stored, compared by content; their number."""
        return self._store(pair, [Waiting(record) for record in records])

    def send_waiting(self) -> Sent:
        """Send what waits on this host. Raises Unreachable, StoreError."""
        sent = self._sender.send_waiting()
        for folder in self._files.waiting():
            self._files.send(folder)
        return sent

    def read(self, pair: Pair) -> tuple[list[Record], int]:
        """All records of a pair, those that wait here last, and the number of unusable rows."""
        with contextlib.suppress(Unreachable):
            self._rows.update(pair, self._copy(), self._reader())
        records, skipped = self._rows.known(pair, self._copy(), self._reader())
        return records + self.spool.of(pair), skipped

    def digest(self, pair: Pair) -> Digested:
        """The digest of a pair; an empty one where nothing is stored."""
        return self._digest(pair)

    def digests(self) -> Iterator[Digested]:
        """The digest of every pair that has any record."""
        for stored in self._stored_pairs():
            digested = self._digest(stored.pair, stored.newest)
            if digested.digest.pair is not None:
                yield digested

    def pairs(self) -> list[Pair]:
        """Every pair that has any record."""
        return [stored.pair for stored in self._stored_pairs()]

    def maybe_similar(
        self, rtt_s: float, bandwidth_bps: float | None, least: float
    ) -> Iterator[tuple[float, Digested]]:
        """Those whose paths were ever similar enough, the most similar first."""
        work = partial(queries.similar_pairs, rtt_s=rtt_s, bandwidth_bps=bandwidth_bps, least=least)
        return self._candidates(work, 1.0)

    def maybe_between(self, connection: Connection) -> Iterator[Digested]:
        """Those that ever joined these hosts."""
        hosts = hosts_of(connection)
        if hosts is None:
            return
        found = self._ask(partial(queries.pairs_between, hosts=hosts))
        for pair in self._known_here() if found is None else [one.pair for one in found]:
            yield self._digest(pair)

    def maybe_with_transfers(self) -> list[Pair]:
        """Those with files moved by a tool, and those that wait here."""
        found = self._ask(queries.pairs_with_transfers)
        if found is None:
            return self._known_here()
        return list(dict.fromkeys([one.pair for one in found] + self._waiting_pairs()))

    def maybe_unfinished(self) -> Iterator[tuple[float, Digested]]:
        """Those with an open session, the latest first."""
        return self._candidates(queries.pairs_unfinished, float("inf"))

    def maybe_of_session(self, session: str) -> Iterator[tuple[float, Digested]]:
        """Those with the session, the latest first."""
        return self._candidates(partial(queries.pairs_of_session, session=session), float("inf"))

    def keep_raw(self, pair: Pair, session: str, name: str, data: bytes) -> None:
        """Store a tool's output next to the pair's records, compressed."""
        self._files.keep(pair, session, name, data)

    def event_log(self, pair: Pair, session: str) -> SharedEventLog:
        """A listener that stores a session's events, and sends them when it ends."""
        return self._files.log(pair, session)

    def events(self, pair: Pair, session: str) -> list[AnyEvent]:
        """The events of a session in order; empty for sessions without a log."""
        try:
            return self._files.events(pair, session)
        except Unreachable:
            return self._files.events_here(session)

    def _store(self, pair: Pair, records: Sequence[Waiting]) -> int:
        sent = self._sender.store(pair, records)
        if sent.refused:
            raise StoreError(
                f"the shared history refuses {_number(sent.refused, 'record')}: the session is "
                "somebody else's",
                kind=ProblemKind.NO_ACCESS,
                remedy="ask its owner, or an operator of the history",
            )
        return sent.added + sent.waiting

    def _digest(self, pair: Pair, newest: int | None = None) -> Digested:
        return self._digests.look(
            self._identity().history_id, self._reader(), pair, self.spool.of(pair), newest
        )

    def _candidates(
        self, work: Callable[[Any], list[tuple[float, StoredPair]]], most: float
    ) -> Iterator[tuple[float, Digested]]:
        """Their digests. What waits here is not in the database's index: it comes first."""
        found = self._ask(work)
        here = self._known_here() if found is None else self._waiting_pairs()
        for pair in here:
            yield most, self._digest(pair)
        for bound, stored in found or ():
            if stored.pair not in here:
                yield bound, self._digest(stored.pair, stored.newest)

    def _stored_pairs(self) -> list[StoredPair]:
        found = self._ask(queries.stored_pairs)
        if found is None:
            return [StoredPair(pair, 0) for pair in self._known_here()]
        self._copy().keep_pairs([stored.pair for stored in found])
        there = {stored.pair for stored in found}
        return found + [StoredPair(p, 0) for p in self._waiting_pairs() if p not in there]

    def _known_here(self) -> list[Pair]:
        return list(dict.fromkeys(self._copy().pairs() + self._waiting_pairs()))

    def _waiting_pairs(self) -> list[Pair]:
        return list(dict.fromkeys(one.record.pair for _, one in self.spool.all()))

    def _ask(self, work: Callable[[Any], _T]) -> _T | None:
        """What the database says; None without an answer."""
        try:
            return self._database.ask(work)
        except Unreachable:
            return None

    def _copy(self) -> LocalCopy:
        return LocalCopy(self._folder / (self._identity().history_id or "none"))

    def _reader(self) -> Reader:
        return Reader(self._identity().account, self._takes)

    def _identity(self) -> Identity:
        """Which history it is and as whom, as it was last where the database is not reached."""
        if not self._database.identity.history_id:
            with contextlib.suppress(Unreachable):
                self._database.ask(lambda _: None)
        found, file = self._database.identity, self._folder / _NEWEST
        if not self._last.history_id:
            with contextlib.suppress(OSError, BadData):
                self._last = decoded(_identities, file.read_bytes(), _MOST_IDENTITY_BYTES)
        if found.history_id and found != self._last:
            self._last = found
            with contextlib.suppress(OSError):
                make_directory(self._folder)
                replace_file(file, msgspec.json.encode(found), sync=False)
        return self._last


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
