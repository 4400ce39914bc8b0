"""The present external load, from a destination's recent throughput (section IV.D).

The paper has three ways: the load of the previous transfer (PT), that of all in the last 30 minutes
(RT), and the same corrected for the model's own errors (RTEC). Ours: a filter that tracks the load
through all transfers (FT).

The paper leaves open, and this module decides:

- RT and RTEC average loads. Here their adjusted logarithms are averaged, as used in the model: an
  exponent of 0.02 turns a throughput higher by a third into a load of 2^20 Mbit/s, and a single
  such load would dominate the others.
- The average error for points with the same DC and SC is the geometric mean of predicted over
  observed, and the throughput is multiplied by it.
- Without recent data, the usual load is assumed.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from statistics import fmean
from typing import Final, TypeAlias

import msgspec

from advisor.domain.shares import Served
from advisor.models.shares.features import MEGA, load_feature, load_of, load_value
from advisor.models.shares.filtering import REMEMBERED_S, filtered
from advisor.models.shares.fitting import ShareModel

RECENT_S: Final = 1800.0

Corrections: TypeAlias = Mapping[tuple[int, ...], float]
"""By what was set, see `Served.levels`: the ratio of the model's prediction to the observation."""


class LoadEstimation(StrEnum):
    """The methods of estimating the present load."""

    PT = "PT"
    RT = "RT"
    RTEC = "RTEC"
    FT = "FT"


def corrections_of(model: ShareModel, samples: Sequence[Served]) -> Corrections:
    """The model's average errors on the data it was fitted to."""
    alike: dict[tuple[int, ...], list[Served]] = defaultdict(list)
    for one in samples:
        alike[one.levels].append(one)
    return {
        levels: math.exp(fmean(_log_error(model, one, some) for one in some))
        for levels, some in alike.items()
    }


def _log_error(model: ShareModel, one: Served, alike: Sequence[Served]) -> float:
    rates = [other.throughput_bps / MEGA for other in alike]
    value = load_of(model.load, one.throughput_bps / MEGA, rates)
    load = load_feature(model.form, model.load, value)
    return math.log(model.predict_sample_bps(one, load) / one.throughput_bps)


def load_now(
    model: ShareModel,
    way: LoadEstimation,
    recent: Sequence[Served],
    now_s: float,
    concurrency: float,
    corrections: Corrections,
) -> float:
    """The load's feature for a transfer with this concurrency.

    `recent`: the destination's samples; only those within the last RECENT_S count, or REMEMBERED_S
    where they are filtered.
    """
    oldest_s = now_s - (REMEMBERED_S if way is LoadEstimation.FT else RECENT_S)
    fresh = sorted(
        (one for one in recent if oldest_s <= one.when_s <= now_s), key=lambda one: one.when_s
    )
    if not fresh or not model.load_weight:
        return model.usual_load
    match way:
        case LoadEstimation.PT:
            last = fresh[-1]
            value = load_value(model.form, model.load, model.load_feature_of(last))
            grown = value * concurrency / last.concurrency
            return load_feature(model.form, model.load, grown)
        case LoadEstimation.RT:
            return fmean(model.load_feature_of(one) for one in fresh)
        case LoadEstimation.RTEC:
            return fmean(model.load_feature_of(_corrected(one, corrections)) for one in fresh)
        case LoadEstimation.FT:
            usual = model.usual_load
            seen = ((one.when_s, model.load_feature_of(one) - usual) for one in fresh)
            return usual + filtered(seen, now_s)


def _corrected(one: Served, corrections: Corrections) -> Served:
    factor = corrections.get(one.levels, 1.0)
    return msgspec.structs.replace(one, throughput_bps=one.throughput_bps * factor)
