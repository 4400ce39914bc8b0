"""Follows one session by its lines: what it moved, what it found, how it ended.

The lines come from another host: each is decoded, records only if they are of one session and pair
and could have been imported, and nothing of them that starts programs.
"""

import time
from typing import Final

import msgspec

from advisor.domain import events as ev
from advisor.domain.advice import Side
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.records import (
    AdviceRecord,
    ClosingRecord,
    ProbeRecord,
    ProfileRecord,
    Record,
    SessionRecord,
)
from advisor.fleet.plan.fleet import PATH_BYTES
from advisor.hosts.decoding import decoded
from advisor.store.importers.usable import require_usable
from advisor.store.postgres.rows import without_orders
from advisor.store.ranking import best_results
from advisor.store.remarks import session_of

LINE_BYTES: Final = 2**20
_MOST_BYTES: Final = 64 * 2**20
_AROUND: Final = 1.1
"""What went over the link for each byte that arrived, at most: headers, and what was sent twice."""

_TAKEN: Final = SessionRecord | ProbeRecord | AdviceRecord | ClosingRecord | ProfileRecord
_records: Final[msgspec.json.Decoder[Record]] = msgspec.json.Decoder(Record)
_events: Final[msgspec.json.Decoder[ev.AnyEvent]] = msgspec.json.Decoder(ev.AnyEvent)


class NotTaken(ProblemError, ValueError):
    """What the source sent is not what a session of this pair sends."""

    kind = ProblemKind.INVALID


class Watched:
    """One session. `destination`: as the source names it; `most_rate_bps`: of the slower link."""

    def __init__(self, destination: str, most_rate_bps: float) -> None:
        self._destination = destination
        self._most_rate_bps = most_rate_bps
        self._bytes = 0
        self._moved = float(PATH_BYTES)
        self._probe_s: float | None = None
        self.first_probe_s: float | None = None
        self.probes: list[ProbeRecord] = []
        self.pair: Pair | None = None
        self.session = ""
        self.rtt_s: float | None = None
        self.gave_up: ev.GaveUp | None = None
        self.waits_at: Side | None = None
        """The side at which somebody else measures, so that the session would have to wait."""

    def tell(self, line: bytes) -> Record | ev.AnyEvent | None:
        """What a line says; None if it is of no use.

        Raises BadData, NotTaken and RefusedError if the session cannot be trusted any further.
        """
        self._bytes += len(line)
        if self._bytes > _MOST_BYTES:
            raise NotTaken(f"it sent more than {_MOST_BYTES} bytes of events and records")
        if line.startswith(b'{"record"'):
            return self._record(line)
        if not line.startswith(b'{"event"'):
            return None
        event = decoded(_events, line, LINE_BYTES)
        self._event(event)
        return event

    def _record(self, line: bytes) -> Record | None:
        record = decoded(_records, line, LINE_BYTES)
        if not isinstance(record, _TAKEN):
            return None
        require_usable(record)
        session = session_of(record)
        if self.pair is None and record.pair.destination == self._destination:
            self.pair, self.session = record.pair, session
        if (record.pair, session) != (self.pair, self.session):
            raise NotTaken("it sent records of another pair or session")
        if isinstance(record, ProbeRecord):
            self.probes.append(record)
        return without_orders(record)

    def _event(self, event: ev.AnyEvent) -> None:
        now_s = time.monotonic()
        match event:
            case ev.PathFound(path=path):
                self.rtt_s = path.rtt_s
            case ev.ProbeStarted():
                self._probe_s = now_s
                self.first_probe_s = self.first_probe_s or now_s
            case ev.ProbeEnded(result=result):
                self._probe_s = None
                if isinstance(result, Measurement):
                    self._moved += _AROUND * sum(i.received_bytes for i in result.intervals)
                else:
                    self._moved += result.elapsed_s * self._most_rate_bps / 8
            case ev.Waiting(side=side):
                self.waits_at = side
            case ev.GaveUp():
                self.gave_up = event

    @property
    def moved_bytes(self) -> float:
        """An upper estimate of what went over the link.

        A probe without a result counts as if it had filled the link.
        """
        open_s = 0.0 if self._probe_s is None else time.monotonic() - self._probe_s
        return self._moved + open_s * self._most_rate_bps / 8

    @property
    def rate_bps(self) -> float | None:
        """The best that any setting reached, on average."""
        found = best_results(self.probes, time.time())
        return max((one.throughput_bps for one in found), default=None)
