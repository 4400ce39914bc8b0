"""Where a history is kept: the one interface that the journal and PostgreSQL implement."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.events import AnyEvent
from advisor.domain.records import AdviceRecord, ProbeRecord, Record
from advisor.store.digest import JournalDigest
from advisor.store.errors import StoreError
from advisor.store.remarks import Standing


class Digested(NamedTuple):
    """A pair's digest, its remarks in force, and the newest advice that counts."""

    digest: JournalDigest
    said: Standing
    newest_advice: AdviceRecord | None


class SessionLog(Protocol):
    """A listener that stores a session's events."""

    def __call__(self, event: AnyEvent, /) -> None:
        """Store one event."""

    def close(self) -> None:
        """The session has ended: later events are ignored."""


class Backend(Protocol):
    """The records of a history, by pair, in the order they were stored, and none rewritten.

    Any number of processes may use one at once; within a process, one thread at a time. Nothing is
    created before something is stored. Methods raise StoreError with a sentence when it cannot be
    read or written.

    Some questions return candidates: all pairs for which the answer may be yes, and others too. The
    caller looks closer; a backend with an index leaves out what it knows to be no. Where it knows
    an order, the best come first, each with a bound for it and those after it.
    """

    @property
    def argument(self) -> str:
        """The value of --store that names it."""

    @property
    def notices(self) -> list[str]:
        """Sentences on what is not known or not sent at present; none where all is well."""

    @property
    def missed(self) -> int:
        """How often it was not reached so far; such answers are of what is known on this host."""

    def another(self) -> "Backend":
        """One more of the same, for another thread."""

    def check_access(self, pair: Pair) -> None:
        """Raises StoreError if records of this pair could not be stored now."""

    def append(self, record: Record) -> None:
        """Store a record; it survives a crash when this returns.

        Raises StoreFull without enough space, and StoreError if it cannot be written or could not
        be read back (a NaN, which JSON does not have).
        """

    def append_new(self, pair: Pair, new: Mapping[str, ProbeRecord]) -> int:
        """Store the probes of a pair whose `session`, the key, is not stored; return their number.

        Two processes that store the same at the same time store it once.
        """

    def append_missing(self, pair: Pair, records: Sequence[Record]) -> int:
        """Store the records of a pair that are not stored, compared by content; their number."""

    def read(self, pair: Pair) -> tuple[list[Record], int]:
        """All records of a pair, and the number of those that this version cannot read."""

    def digest(self, pair: Pair) -> Digested:
        """The digest of a pair; an empty one where nothing is stored."""

    def digests(self) -> Iterator[Digested]:
        """The digest of every pair that has any record."""

    def pairs(self) -> list[Pair]:
        """Every pair that has any record."""

    def maybe_similar(
        self, rtt_s: float, bandwidth_bps: float | None, least: float
    ) -> Iterator[tuple[float, Digested]]:
        """Candidates: paths whose likeness (models/similarity.py) is at least `least`.

        With the most that the likeness of this one and those after it can be.
        """

    def maybe_between(self, connection: Connection) -> Iterator[Digested]:
        """Candidates: pairs whose newest connection joins the hosts of this one."""

    def maybe_with_transfers(self) -> list[Pair]:
        """Candidates: pairs with probes of a tool that moved files."""

    def maybe_unfinished(self) -> Iterator[tuple[float, Digested]]:
        """Candidates: pairs with a session that was opened and has not ended.

        With the latest Unix time at which one of this pair or those after it was opened.
        """

    def maybe_of_session(self, session: str) -> Iterator[tuple[float, Digested]]:
        """Candidates: pairs with this session, with any where it is "".

        With the latest Unix time at which one of this pair or those after it was opened.
        """

    def keep_raw(self, pair: Pair, session: str, name: str, data: bytes) -> None:
        """Store a tool's output next to the pair's records, compressed.

        Replaces earlier output under the same session and name.
        """

    def event_log(self, pair: Pair, session: str) -> SessionLog:
        """A listener that stores a session's events next to its pair's records."""

    def events(self, pair: Pair, session: str) -> list[AnyEvent]:
        """The events of a session in order; empty for sessions without a log."""


def encoded(record: Record) -> bytes:
    """A record as JSON. Raises StoreError if it could not be read back."""
    data = msgspec.json.encode(record)
    try:
        msgspec.json.decode(data, type=type(record))
    except msgspec.ValidationError as error:
        raise StoreError(
            f"this record could not be read back: {error}", remedy="measure again, and report it"
        ) from error
    return data
