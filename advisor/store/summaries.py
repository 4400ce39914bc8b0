"""The entries of a list of pairs. Pure."""

import heapq
from collections import defaultdict
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.events import PastResult
from advisor.domain.records import AdviceRecord
from advisor.store.digest import JournalDigest
from advisor.store.ranking import best_of
from advisor.store.remarks import Standing

_SERIES_LENGTH: Final = 60


class PairSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of what is stored for a pair, without deleted sessions.

    `best`: per subject. `last_recorded_s`: Unix time of the newest record. `records`:
    their number, without remarks and transfers; `skipped`: lines that this version cannot read.
    `series`: by subject the newest successful probes that count, up to 60, oldest first, as
    (Unix time, bit/s). `rtt_s`, `bandwidth_bps`: of the path when it was last measured, None where
    not known.
    """

    pair: Pair
    best: list[PastResult]
    last_advice: AdviceRecord | None
    last_recorded_s: float
    records: int
    skipped: int
    series: dict[str, list[tuple[float, float]]]
    rtt_s: float | None
    bandwidth_bps: float | None


class SimilarPair(msgspec.Struct, frozen=True, kw_only=True):
    """The results of another pair with a similar path.

    `likeness` in (0, 1], 1 for the same path: models/similarity.py.
    """

    pair: Pair
    likeness: float
    rtt_s: float
    bandwidth_bps: float | None
    best: list[PastResult]


def summary(
    digest: JournalDigest,
    said: Standing,
    last_advice: AdviceRecord | None,
    now_s: float,
    *,
    include_deleted: bool = False,
) -> PairSummary | None:
    """A pair's summary; None if nothing is stored, or only deleted sessions.

    With `include_deleted` a pair has a summary even if everything in it was deleted.
    """
    facts = [f for f in digest.sessions if not said.hides(f.session, f.importers)]
    if digest.pair is None or not (facts or (include_deleted and digest.sessions)):
        return None
    rows = digest.counting_rates(said)
    with_path = [f for f in facts if f.rtt_s]
    newest = max(with_path, key=lambda f: f.last_s, default=None)
    return PairSummary(
        pair=digest.pair,
        best=best_of(digest.by_setting(rows), now_s),
        last_advice=last_advice,
        last_recorded_s=max(f.last_s for f in facts or digest.sessions),
        records=sum(f.records for f in facts),
        skipped=digest.skipped,
        series=_series(digest, rows),
        rtt_s=newest.rtt_s if newest else None,
        bandwidth_bps=newest.bandwidth_bps if newest else None,
    )


def _series(
    digest: JournalDigest, rows: list[tuple[int, int, float, float]]
) -> dict[str, list[tuple[float, float]]]:
    subjects = [subject for subject, _ in digest.settings]
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for setting, _, recorded_s, rate_bps in rows:
        points[subjects[setting]].append((recorded_s, rate_bps))
    return {
        subject: heapq.nlargest(_SERIES_LENGTH, points[subject])[::-1] for subject in sorted(points)
    }
