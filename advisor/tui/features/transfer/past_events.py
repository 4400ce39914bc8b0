"""The events of a past tuned transfer: as stored, or derived from its stored epochs."""

from collections.abc import Iterable, Iterator
from typing import Final

from advisor.domain import events as ev
from advisor.domain.measurement import Failure, Measurement
from advisor.domain.records import ProbeRecord, Record
from advisor.store.history import Store
from advisor.store.session_digests import SessionDigest

_STAGE: Final = "transfer"
_LABEL: Final = "epoch"


def past_transfer_events(store: Store, session: SessionDigest) -> list[ev.AnyEvent]:
    """All its events; empty where it was not a tuned transfer. Raises StoreError."""
    kept = store.events(session.pair, session.session)
    if any(isinstance(event, ev.TransferStarted) for event in kept):
        return kept
    epochs = epochs_of(store.records(session.pair), session.session)
    return events_from_epochs(epochs) if epochs else []


def epochs_of(records: Iterable[Record], session: str) -> list[ProbeRecord]:
    """The control epochs of that session in order of time."""
    found = (
        r
        for r in records
        if isinstance(r, ProbeRecord) and (r.session, r.stage, r.label) == (session, _STAGE, _LABEL)
    )
    return sorted(found, key=lambda epoch: epoch.recorded_s)


def events_from_epochs(epochs: list[ProbeRecord]) -> list[ev.AnyEvent]:
    """Events from the start of the first epoch to the end of the last; `epochs`: at least one.

    What is not stored is missing: the last epoch, in which the work ran out, the reasons of the
    method, and the external load.
    """
    first = epochs[0]
    began_s = first.recorded_s - first.result.elapsed_s
    files = first.files or 0
    started = ev.TransferStarted(
        at_s=0.0,
        session=first.session,
        pair=first.pair,
        method=first.method,
        setting=first.setting,
        epoch_s=first.result.elapsed_s,
        files=files,
        total_bytes=round(files * (first.file_bytes or 0.0)),
    )
    events: list[ev.AnyEvent] = [started]
    before: ProbeRecord | None = None
    for number, epoch in enumerate(epochs, 1):
        if before and before.setting != epoch.setting:
            events.append(_change(number - 1, before, epoch, before.recorded_s - began_s))
        events += _events_from_epoch(number, epoch, epoch.recorded_s - began_s)
        before = epoch
    return events


def _change(number: int, old: ProbeRecord, new: ProbeRecord, at_s: float) -> ev.SettingChanged:
    return ev.SettingChanged(
        at_s=at_s,
        epoch=number,
        old=old.setting,
        new=new.setting,
        throughput_bps=_throughput_bps(old),
        reason="",
    )


def _events_from_epoch(number: int, epoch: ProbeRecord, ended_s: float) -> Iterator[ev.AnyEvent]:
    result = epoch.result
    intervals = result.intervals if isinstance(result, Measurement) else []
    for interval in intervals:
        yield ev.IntervalSeen(
            at_s=max(0.0, ended_s - intervals[-1].end_s + interval.end_s),
            ordinal=number,
            start_s=interval.start_s,
            end_s=interval.end_s,
            received_bytes=interval.received_bytes,
            throughput_bps=interval.throughput_bps,
        )
    yield ev.EpochEnded(
        at_s=ended_s,
        epoch=number,
        setting=epoch.setting,
        throughput_bps=_throughput_bps(epoch),
        stderr_bps=result.stderr_bps if isinstance(result, Measurement) else 0.0,
        failure=result.message if isinstance(result, Failure) else "",
    )


def _throughput_bps(epoch: ProbeRecord) -> float:
    return epoch.result.throughput_bps if isinstance(epoch.result, Measurement) else 0.0
