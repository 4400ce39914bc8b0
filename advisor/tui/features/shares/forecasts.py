"""Forecasts for this source's destinations, and plans from them: runs in a thread.

Importing it loads numpy.
"""

import contextlib
from collections.abc import Mapping
from typing import Final

import msgspec

from advisor.domain.shares import Asked, SharePlan
from advisor.models.shares.fitting import TooFew
from advisor.models.shares.forecast import DEFAULT, Forecast
from advisor.models.shares.planning import NotToBeShared, plan
from advisor.store.history import Store
from advisor.transfer.shared.prior_knowledge import PriorKnowledge, known_of, trained_destinations
from advisor.transfer.shared.session import source_name

_GOOD_FOR_S: Final = 300.0
"""A forecast includes the recent load, which changes."""


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """Forecasts by destination, made at `at_s` (Unix time).

    `too_little`: destinations with too few measurements. `untrained`: the source's other
    destinations. `most_bps`: the highest rate that any of them got.
    """

    source: str
    at_s: float
    known: PriorKnowledge
    forecasts: dict[str, Forecast]
    too_little: list[str]
    untrained: list[str]
    most_bps: float


def learned_of(store: Store, now_s: float, before: Learned | None = None) -> Learned:
    """`now_s`: Unix time. `before`: the previous result, reused while valid. Raises StoreError.

    Fitting the models takes seconds on a busy host.
    """
    source = source_name()
    names = trained_destinations(store, source)
    known = known_of(store, source, names)
    if before and before.known == known and now_s < before.at_s + _GOOD_FOR_S:
        return before
    forecasts: dict[str, Forecast] = {}
    for name, samples in known.samples.items():
        with contextlib.suppress(TooFew):
            forecasts[name] = Forecast(samples, now_s, parallelism=known.parallelism)
    others = {pair.destination for pair in store.stored_pairs() if pair.source == source}
    got_bps = [one.throughput_bps for each in forecasts.values() for one in each.samples]
    return Learned(
        source=source,
        at_s=now_s,
        known=known,
        forecasts=forecasts,
        too_little=[name for name in names if name not in forecasts],
        untrained=sorted(others.difference(names)),
        most_bps=max(got_bps, default=0.0),
    )


def plan_of(learned: Learned, asked: Mapping[str, Asked]) -> SharePlan | str:
    """The plan for these requests, or a sentence why they make no sense."""
    try:
        return plan(learned.source, asked, learned.forecasts, DEFAULT, learned.known.parallelism)
    except NotToBeShared as error:
        return str(error)
