"""The data behind lists of sessions: a journal without its probes' details. Pure.

Remarks may come long after the records they refer to. So a digest keeps the time and throughput of
every successful probe, and which of them count is determined on request.
"""

from array import array
from collections import defaultdict
from typing import Any, Final

import msgspec

from advisor.domain.advice import Estimate
from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.file_io import PARTS
from advisor.domain.measurement import Measurement
from advisor.domain.records import (
    AdviceRecord,
    ClosingRecord,
    ProbeRecord,
    ProfileRecord,
    Record,
    RemarkRecord,
    SessionRecord,
    ShareRecord,
    TransferRecord,
)
from advisor.domain.space import Setting, SettingKey, setting_key
from advisor.store.ranking import SettingRates
from advisor.store.reading import ReadPosition
from advisor.store.remarks import OWN_ORIGIN, Standing, importers_of, session_of, standing

_NO_IMPORTER: Final = 2**32 - 1


class AdviceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The content of advice. `offset`: start of its line in the journal, `length`: its bytes."""

    subject: str = msgspec.field(name="transport")
    setting: Setting
    expected_bps: float
    interval_bps: tuple[float, float]
    default_bps: float | None
    gain: Estimate | None
    incomplete: bool
    recorded_s: float
    offset: int
    length: int


class SessionFacts(msgspec.Struct, kw_only=True):
    """What was recorded of one session, without remarks.

    `opened_s`: when its request was recorded. `probes` includes failures. `records`: their number;
    `first_s` and `last_s`: the times of the oldest and newest. `connection`: the newest one.
    `profile`: the name of the profile that it is, "" for none. `imported`: without its request.
    `importers`: the accounts that imported its probes, as of `importers_of`.
    """

    session: str
    first_s: float
    last_s: float
    records: int = 0
    opened_s: float | None = None
    probes: int = 0
    failures: int = 0
    origin: str = OWN_ORIGIN
    method: str = ""
    transports: list[str] = msgspec.field(default_factory=list)
    rtt_s: float | None = None
    bandwidth_bps: float | None = None
    connection: Connection | None = None
    advice: AdviceFacts | None = None
    advised: bool = False
    closed: bool = False
    profile: str = ""
    imported: bool = False
    importers: list[str] = msgspec.field(default_factory=list)


class Rates:
    """The successful probes in the order they were stored, column by column.

    `setting` and `session` are indices into the digest's lists; `importer` is one into the
    importers of the session, or beyond them.
    """

    def __init__(self) -> None:
        self.setting: array[int] = array("L")
        self.session: array[int] = array("L")
        self.importer: array[int] = array("L")
        self.recorded_s: array[float] = array("d")
        self.rate_bps: array[float] = array("d")

    def encoded(self) -> list[bytes]:
        """The columns in this machine's representation."""
        columns = (self.setting, self.session, self.importer, self.recorded_s, self.rate_bps)
        return [column.tobytes() for column in columns]

    @classmethod
    def decoded(cls, columns: list[bytes]) -> "Rates":
        """The inverse of `encoded`. Raises ValueError for anything else."""
        rates = cls()
        rates.setting.frombytes(columns[0])
        rates.session.frombytes(columns[1])
        rates.importer.frombytes(columns[2])
        rates.recorded_s.frombytes(columns[3])
        rates.rate_bps.frombytes(columns[4])
        return rates


class JournalDigest(msgspec.Struct, kw_only=True):
    """A summary of a journal up to `place`. `skipped`: number of lines that are not records."""

    place: ReadPosition = msgspec.field(default_factory=ReadPosition)
    pair: Pair | None = None
    skipped: int = 0
    sessions: list[SessionFacts] = msgspec.field(default_factory=list)
    settings: list[tuple[str, Setting]] = msgspec.field(default_factory=list)
    rates: Rates = msgspec.field(default_factory=Rates)
    remarks: list[RemarkRecord] = msgspec.field(default_factory=list)
    transfers: list[TransferRecord] = msgspec.field(default_factory=list)

    def standing(self) -> Standing:
        """The remarks in force."""
        return standing(self.remarks)

    def counting_rates(self, said: Standing) -> list[tuple[int, int, float, float]]:
        """Setting, session, time and throughput of the probes that count, as in `Rates`."""
        rates = self.rates
        rows = zip(rates.setting, rates.session, rates.recorded_s, rates.rate_bps, strict=True)
        if said.is_empty:
            return list(rows)
        return [
            row
            for row, importer in zip(rows, rates.importer, strict=True)
            if said.counts(
                self.sessions[row[1]].session,
                row[2],
                self.sessions[row[1]].importers[importer : importer + 1],
            )
        ]

    def by_setting(
        self, rows: list[tuple[int, int, float, float]]
    ) -> dict[str, list[SettingRates]]:
        """These probes by subject and setting, in the order of first occurrence of the setting."""
        found: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
        for setting, _, recorded_s, rate_bps in rows:
            rates_bps, times_s = found[setting]
            rates_bps.append(rate_bps)
            times_s.append(recorded_s)
        by_subject: dict[str, list[SettingRates]] = defaultdict(list)
        for number, (rates_bps, times_s) in found.items():
            subject, setting_of = self.settings[number]
            by_subject[subject].append(SettingRates(setting_of, rates_bps, max(times_s)))
        return by_subject


class Digester:
    """Adds records to a digest one by one."""

    def __init__(self, digest: JournalDigest) -> None:
        self.digest = digest
        self._sessions = {facts.session: n for n, facts in enumerate(digest.sessions)}
        self._settings: dict[tuple[str, SettingKey], int] = {
            (subject, setting_key(setting)): n
            for n, (subject, setting) in enumerate(digest.settings)
        }

    def add(self, record: Record, offset: int, length: int) -> None:
        """Add the record whose line of `length` bytes starts at `offset`."""
        digest = self.digest
        digest.pair = digest.pair or record.pair
        if isinstance(record, RemarkRecord):
            digest.remarks.append(record)
        elif isinstance(record, TransferRecord):
            digest.transfers.append(record)
            # A planned transfer has no recorded request.
            self._facts(record.session, record.recorded_s)
        elif not isinstance(record, ShareRecord):  # Those are read whole, and are of no session.
            self._add_to_session(record, offset, length)

    def _add_to_session(
        self,
        record: SessionRecord | ProbeRecord | AdviceRecord | ClosingRecord | ProfileRecord,
        offset: int,
        length: int,
    ) -> None:
        facts = self._facts(session_of(record), record.recorded_s)
        facts.records += 1
        facts.first_s = min(facts.first_s, record.recorded_s)
        facts.last_s = max(facts.last_s, record.recorded_s)
        match record:
            case ProbeRecord():
                self._add_probe(record, facts)
            case SessionRecord():
                facts.opened_s = max(facts.opened_s or record.recorded_s, record.recorded_s)
                facts.method = str(record.request.get("method", facts.method))
                facts.rtt_s, facts.bandwidth_bps = record.path.rtt_s, record.path.bandwidth_bps
                facts.connection = Connection.of(record.path)
                facts.imported = not record.request
            case AdviceRecord():
                facts.advised |= not record.advice.incomplete
                if facts.advice is None or record.recorded_s > facts.advice.recorded_s:
                    facts.advice = _advice_facts(record, offset, length)
            case ClosingRecord():
                facts.closed = True
            case ProfileRecord():
                facts.profile = record.name
                facts.opened_s = record.recorded_s
                if record.path:
                    facts.rtt_s, facts.bandwidth_bps = record.path.rtt_s, record.path.bandwidth_bps
                    facts.connection = Connection.of(record.path)

    def _facts(self, session: str, recorded_s: float) -> SessionFacts:
        sessions = self.digest.sessions
        if session not in self._sessions:
            self._sessions[session] = len(sessions)
            sessions.append(SessionFacts(session=session, first_s=recorded_s, last_s=recorded_s))
        return sessions[self._sessions[session]]

    def _add_probe(self, probe: ProbeRecord, facts: SessionFacts) -> None:
        facts.probes += 1
        facts.origin = probe.origin
        facts.method = facts.method or probe.method
        importers = importers_of(probe)
        facts.importers += [one for one in importers if one not in facts.importers]
        if facts.opened_s is None:
            facts.rtt_s = probe.rtt_s or facts.rtt_s
            facts.bandwidth_bps = probe.bandwidth_bps or facts.bandwidth_bps
            facts.connection = probe.connection or facts.connection
        if probe.subject in PARTS:
            facts.failures += not isinstance(probe.result, Measurement)
            return
        if probe.subject not in facts.transports:
            facts.transports.append(probe.subject)
        if not isinstance(probe.result, Measurement):
            facts.failures += 1
        elif probe.result.throughput_bps > 0:
            rates = self.digest.rates
            rates.setting.append(self._setting(probe))
            rates.session.append(self._sessions[facts.session])
            known = facts.importers
            rates.importer.append(known.index(importers[0]) if importers else _NO_IMPORTER)
            rates.recorded_s.append(probe.recorded_s)
            rates.rate_bps.append(probe.result.throughput_bps)

    def _setting(self, probe: ProbeRecord) -> int:
        key = (probe.subject, setting_key(probe.setting))
        if key not in self._settings:
            self._settings[key] = len(self.digest.settings)
            self.digest.settings.append((probe.subject, probe.setting))
        return self._settings[key]


def _advice_facts(record: AdviceRecord, offset: int, length: int) -> AdviceFacts:
    advice = record.advice
    return AdviceFacts(
        subject=advice.subject,
        setting=advice.setting,
        expected_bps=advice.expected_bps,
        interval_bps=advice.interval_bps,
        default_bps=advice.default_bps,
        gain=advice.gain,
        incomplete=advice.incomplete,
        recorded_s=record.recorded_s,
        offset=offset,
        length=length,
    )


def encode_digest(digest: JournalDigest) -> bytes:
    """The digest as bytes that `decode_digest` reads on a machine of the same kind."""
    return msgspec.msgpack.encode(digest, enc_hook=Rates.encoded)


def decode_digest(data: bytes) -> JournalDigest:
    """The inverse of `encode_digest`. Raises msgspec.MsgspecError or ValueError otherwise."""

    def rates(_: type, columns: Any) -> Rates:
        return Rates.decoded(columns)

    return msgspec.msgpack.decode(data, type=JournalDigest, dec_hook=rates)
