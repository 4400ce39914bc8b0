"""The history in a folder: a journal for each pair."""

import gzip
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.events import AnyEvent
from advisor.domain.records import ProbeRecord, Record
from advisor.store.backend import Digested, encoded
from advisor.store.digest_cache import DigestCache
from advisor.store.errors import explaining
from advisor.store.event_log import EventLog, kept_events
from advisor.store.files import make_directory, replace_file
from advisor.store.identity import missing_from
from advisor.store.journal import JournalStorage, JournalTable
from advisor.store.layout import JOURNAL, pair_directory, safe_name
from advisor.store.reading import bounded_lines
from advisor.store.stored_sessions import StoredSessions


class JournalBackend:
    """The history in `directory`; see Backend. Digests are kept in `cache`, by default the user's.

    All its answers on candidates are all pairs: a digest decides as fast.
    """

    def __init__(self, directory: Path, cache: Path | None = None) -> None:
        self._directory = directory
        self._cache = cache or user_cache_path("advisor")
        self._digests = DigestCache(self._cache)
        self._tables: dict[Path, JournalTable] = {}
        self._known_sessions: dict[Path, StoredSessions] = {}

    @property
    def argument(self) -> str:
        """The folder."""
        return str(self._directory)

    @property
    def notices(self) -> list[str]:
        """None: what is in a folder is there."""
        return []

    @property
    def missed(self) -> int:
        """Never: what cannot be read is an error."""
        return 0

    def another(self) -> "JournalBackend":
        """One more of the same, for another thread."""
        return JournalBackend(self._directory, self._cache)

    def check_access(self, pair: Pair) -> None:
        """Raises StoreError if records of this pair could not be stored now."""
        self.append_missing(pair, [])

    def append(self, record: Record) -> None:
        """Store a record; it is on disk when this returns."""
        self._table(record.pair).insert(_document(record))

    def append_new(self, pair: Pair, new: Mapping[str, ProbeRecord]) -> int:
        """Store the probes of a pair whose `session`, the key, is not stored; their number."""
        table = self._table(pair)
        with table.journal.locked():
            there = self._known_sessions.setdefault(table.journal.path, StoredSessions())
            stored = there.look(table.journal.path)
            missing = [_document(r) for session, r in new.items() if session not in stored]
            if missing:
                table.insert_multiple(missing)
        return len(missing)

    def append_missing(self, pair: Pair, records: Sequence[Record]) -> int:
        """Store the records of a pair that are not stored, compared by content; their number."""
        table = self._table(pair)
        with table.journal.locked():
            new = missing_from(self.read(pair)[0], records)
            if new:
                table.insert_multiple([_document(record) for record in new])
        return len(new)

    def read(self, pair: Pair) -> tuple[list[Record], int]:
        """All records of a pair, and the number of lines that this version cannot read."""
        table = self._table(pair)
        records: list[Record] = []
        skipped = 0
        for document in table:
            try:
                records.append(msgspec.convert(document, Record, str_keys=True))
            except msgspec.ValidationError:
                skipped += 1
        return records, skipped + table.journal.bad_lines

    def digest(self, pair: Pair) -> Digested:
        """The digest of a pair; an empty one where nothing is stored."""
        return self._digests.look(pair_directory(self._directory, pair) / JOURNAL)

    def digests(self) -> Iterator[Digested]:
        """The digest of every pair that has any record."""
        found = (self._digests.look(journal) for journal in self._journals())
        return (one for one in found if one.digest.pair is not None)

    def pairs(self) -> list[Pair]:
        """Every pair that has any record."""
        return [one.digest.pair for one in self.digests() if one.digest.pair is not None]

    def maybe_similar(
        self, rtt_s: float, bandwidth_bps: float | None, least: float
    ) -> Iterator[tuple[float, Digested]]:
        """All."""
        return ((1.0, one) for one in self.digests())

    def maybe_between(self, connection: Connection) -> Iterator[Digested]:
        """All."""
        return self.digests()

    def maybe_with_transfers(self) -> list[Pair]:
        """Those whose journal mentions files: most have none, and decoding all takes long."""
        return [pair for pair in self.pairs() if self._mentions_files(pair)]

    def maybe_unfinished(self) -> Iterator[tuple[float, Digested]]:
        """All."""
        return ((math.inf, one) for one in self.digests())

    def maybe_of_session(self, session: str) -> Iterator[tuple[float, Digested]]:
        """All."""
        return self.maybe_unfinished()

    def keep_raw(self, pair: Pair, session: str, name: str, data: bytes) -> None:
        """Store a tool's output next to the pair's records, compressed."""
        folder = self._raw_folder(pair, session)
        path = folder / f"{safe_name(name)}.gz"
        with explaining(path, "write"):
            make_directory(folder)
            # Without a timestamp, the same output always gives the same file.
            replace_file(path, gzip.compress(data, mtime=0))

    def event_log(self, pair: Pair, session: str) -> EventLog:
        """A listener that stores a session's events next to its pair's records."""
        return EventLog(self._raw_folder(pair, session))

    def events(self, pair: Pair, session: str) -> list[AnyEvent]:
        """The events of a session in order; empty for sessions without a log."""
        folder = self._raw_folder(pair, session)
        with explaining(folder, "read"):
            return list(kept_events(folder))

    def _raw_folder(self, pair: Pair, session: str) -> Path:
        return pair_directory(self._directory, pair) / "raw" / safe_name(session)

    def _mentions_files(self, pair: Pair) -> bool:
        journal = pair_directory(self._directory, pair) / JOURNAL
        with explaining(journal, "read"), journal.open("rb") as lines:
            return any(
                b'"file_bytes":' in line and b'"file_bytes":null' not in line
                for line in bounded_lines(lines)
            )

    def _table(self, pair: Pair) -> JournalTable:
        path = pair_directory(self._directory, pair) / JOURNAL
        if path not in self._tables:
            self._tables[path] = JournalTable(JournalStorage(path))
        return self._tables[path]

    def _journals(self) -> Iterator[Path]:
        with explaining(self._directory, "read"):
            if self._directory.exists():
                yield from sorted(
                    folder / JOURNAL
                    for folder in self._directory.iterdir()
                    if (folder / JOURNAL).is_file()
                )


def _document(record: Record) -> dict[str, object]:
    encoded(record)  # What is acknowledged must be readable.
    document: dict[str, object] = msgspec.to_builtins(record)
    return document
