"""The entries of a list of sessions. Pure."""

import math
from collections import defaultdict
from typing import Literal

import msgspec

from advisor.domain.advice import CameTrue, came_true
from advisor.domain.endpoints import Pair
from advisor.domain.records import TransferRecord
from advisor.domain.space import Setting
from advisor.store.digest import AdviceFacts, JournalDigest, SessionFacts
from advisor.store.remarks import OWN_ORIGIN, Note, Standing

State = Literal[
    "advised", "incomplete", "interrupted", "nothing usable", "imported", "planned", "profile"
]
"""Planned: files were moved by a plan, without advice."""


class BestProbe(msgspec.Struct, frozen=True):
    """The highest throughput of a single probe in a session, in bit/s."""

    subject: str = msgspec.field(name="transport")
    setting: Setting
    throughput_bps: float


class TransferDigest(msgspec.Struct, frozen=True, kw_only=True):
    """A real transfer that followed a session.

    `came_true`: where its rate lies relative to the advice's interval; None without advice.
    """

    recorded_s: float
    total_bytes: int
    elapsed_s: float
    rate_bps: float
    came_true: CameTrue | None
    note: str = ""


class SessionDigest(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of a session.

    `began_s`: Unix time of its request, or of its oldest record. `probes` includes failures.
    `best`: of the probes that count, None without any. `outlier`: the whole session is marked;
    `outlier_probes`: the recording times of individually marked probes. `origin`: advisor, or the
    format it was imported from; a session is then what was measured in one day. `rtt_s` and
    `bandwidth_bps` are those of its path, None where not known. `deleted_by`: the account, "" where
    nobody else uses the history.
    """

    session: str
    pair: Pair
    began_s: float
    state: State
    probes: int
    failures: int
    method: str
    origin: str
    transports: list[str]
    best: BestProbe | None
    advice: AdviceFacts | None
    notes: list[Note]
    outlier: bool
    outlier_probes: list[float]
    deleted: bool
    deleted_by: str
    transfers: list[TransferDigest]
    rtt_s: float | None
    bandwidth_bps: float | None


def session_digests(
    digest: JournalDigest, said: Standing, *, include_deleted: bool = False
) -> list[SessionDigest]:
    """The sessions of one journal in the order they were stored."""
    if digest.pair is None:
        return []
    best = _best_probes(digest, said)
    outliers: dict[str, list[float]] = defaultdict(list)
    for session, probe_s in said.marked_probes:
        outliers[session].append(probe_s)
    transfers: dict[str, list[TransferRecord]] = defaultdict(list)
    for transfer in digest.transfers:
        transfers[transfer.session].append(transfer)
    return [
        SessionDigest(
            session=facts.session,
            pair=digest.pair,
            began_s=facts.first_s if facts.opened_s is None else facts.opened_s,
            state=_state(facts),
            probes=facts.probes,
            failures=facts.failures,
            method=facts.method,
            origin=facts.origin,
            transports=facts.transports,
            best=best.get(number),
            advice=facts.advice,
            notes=said.notes.get(facts.session, []),
            outlier=said.discredits(facts.session, facts.importers),
            outlier_probes=outliers.get(facts.session, []),
            deleted=said.hides(facts.session, facts.importers),
            deleted_by=said.deleted_by.get(facts.session, ""),
            transfers=[_transfer(t, facts.advice) for t in transfers.get(facts.session, [])],
            rtt_s=facts.rtt_s,
            bandwidth_bps=facts.bandwidth_bps,
        )
        for number, facts in enumerate(digest.sessions)
        if include_deleted or not said.hides(facts.session, facts.importers)
    ]


def _best_probes(digest: JournalDigest, said: Standing) -> dict[int, BestProbe]:
    """By the number of the session."""
    highest_bps = [-math.inf] * len(digest.sessions)
    best = [-1] * len(digest.sessions)
    for setting, session, _, rate_bps in digest.counting_rates(said):
        if rate_bps > highest_bps[session]:
            highest_bps[session] = rate_bps
            best[session] = setting
    return {
        session: BestProbe(*digest.settings[setting], highest_bps[session])
        for session, setting in enumerate(best)
        if setting >= 0
    }


def _state(facts: SessionFacts) -> State:
    if facts.origin != OWN_ORIGIN:
        return "imported"
    if facts.profile:
        return "profile"
    if facts.advised:
        return "advised"
    if facts.imported:
        return "imported"
    if facts.closed:
        return "nothing usable"
    if facts.opened_s is None and facts.advice is None:
        return "planned"
    return "incomplete" if facts.advice else "interrupted"


def _transfer(transfer: TransferRecord, advice: AdviceFacts | None) -> TransferDigest:
    return TransferDigest(
        recorded_s=transfer.recorded_s,
        total_bytes=transfer.total_bytes,
        elapsed_s=transfer.elapsed_s,
        rate_bps=transfer.rate_bps,
        came_true=came_true(transfer.rate_bps, advice.interval_bps) if advice else None,
        note=transfer.note,
    )
