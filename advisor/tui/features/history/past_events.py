"""The events of a past session: as stored, or derived from its records."""

from collections.abc import Iterable, Sequence

from advisor.domain import events as ev
from advisor.domain.measurement import Measurement
from advisor.domain.records import AdviceRecord, ProbeRecord, Record
from advisor.store.history import Store
from advisor.store.remarks import session_of
from advisor.store.session_digests import SessionDigest


def events_of(store: Store, session: SessionDigest) -> tuple[list[ev.AnyEvent], bool]:
    """The session's events, and whether they were stored; else they are derived from its records.

    Raises StoreError.
    """
    if kept := store.events(session.pair, session.session):
        return kept, True
    records = [r for r in store.records(session.pair) if session_of(r) == session.session]
    return _events_from_records(session, records), False


def _events_from_records(session: SessionDigest, records: Sequence[Record]) -> list[ev.AnyEvent]:
    probes = sorted(
        (r for r in records if isinstance(r, ProbeRecord)), key=lambda probe: probe.recorded_s
    )
    began_s = min((p.recorded_s - p.result.elapsed_s for p in probes), default=session.began_s)
    events: list[ev.AnyEvent] = [
        ev.SessionStarted(
            at_s=0.0,
            session=session.session,
            pair=session.pair,
            method=session.method,
            seed=next((p.seed for p in probes if p.seed is not None), 0),
            budget_s=0.0,
        )
    ]
    for ordinal, probe in enumerate(probes, 1):
        events += _events_from_probe(ordinal, probe, began_s)
    for record in records:
        if isinstance(record, AdviceRecord):
            fields = {f: getattr(record.advice, f) for f in record.advice.__struct_fields__}
            events.append(ev.AdviceGiven(at_s=max(0.0, record.recorded_s - began_s), **fields))
    return events


def _events_from_probe(ordinal: int, probe: ProbeRecord, began_s: float) -> Iterable[ev.AnyEvent]:
    ended_s = probe.recorded_s - began_s
    start_s = max(0.0, ended_s - probe.result.elapsed_s)
    stage = probe.stage or probe.subject
    yield ev.ProbeStarted(
        at_s=start_s,
        ordinal=ordinal,
        stage=stage,
        purpose=probe.purpose,
        subject=probe.subject,
        setting=probe.setting,
        label=probe.label,
    )
    for interval in probe.result.intervals if isinstance(probe.result, Measurement) else ():
        yield ev.IntervalSeen(
            at_s=min(ended_s, start_s + interval.end_s),
            ordinal=ordinal,
            start_s=interval.start_s,
            end_s=interval.end_s,
            received_bytes=interval.received_bytes,
            throughput_bps=interval.throughput_bps,
        )
    yield ev.ProbeEnded(
        at_s=ended_s,
        ordinal=ordinal,
        stage=stage,
        purpose=probe.purpose,
        subject=probe.subject,
        setting=probe.setting,
        result=probe.result,
        remaining_s=0.0,
        label=probe.label,
    )
