"""Plans concurrencies from the requests for the destinations, and says which cannot be met."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import geometric_mean
from typing import Final

import msgspec

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.quantities import format_rate
from advisor.domain.shares import BASE, Asked, Served, SharePlan, ShareRow
from advisor.models.shares.allocation import (
    MOST_CONCURRENCY,
    Allocation,
    Predicts,
    Target,
    allocate,
)
from advisor.models.shares.estimating import RECENT_S
from advisor.models.shares.forecast import Forecast, Modelling
from advisor.models.shares.measured import beyond_words

_BEYOND: Final = 2

_HELD_FROM: Final = 0.9
"""Of a rate limit: from here on it counts as what holds a destination back. The mean keeps to the
limit, an epoch may see a piece less."""

_TOO_FAR_OFF: Final = 0.3
"""Of the mean prediction error; the worst validation error in the paper's table II is 15 %."""


class NotToBeShared(ProblemError, ValueError):
    """The request is invalid; the message is one sentence with its remedy."""

    kind = ProblemKind.INVALID


def plan(
    source: str,
    asked: Mapping[str, Asked],
    forecasts: Mapping[str, Forecast],
    modelling: Modelling,
    parallelism: int,
    base_bps: Mapping[str, float] | None = None,
) -> SharePlan:
    """The concurrencies that come nearest to the requests. Raises NotToBeShared.

    `base_bps`: measured rates that factors refer to, see `measured_base_bps`.
    """
    check(asked)
    asked = bounded(asked, forecasts)
    expected = capped(asked, forecasts)
    allocation = allocate(expected, targets_of(asked, forecasts, base_bps))
    return SharePlan(
        source=source,
        parallelism=parallelism,
        model=modelling.words,
        estimate=modelling.estimate,
        rows=[_row(name, one, forecasts[name], allocation) for name, one in asked.items()],
        notes=list(_notes(asked, forecasts, allocation, base_bps or {})),
    )


def check(asked: Mapping[str, Asked]) -> None:
    """Check the requests. Raises NotToBeShared."""
    if not asked:
        raise NotToBeShared("nothing is requested for any destination")
    if len(asked) == 1 and next(iter(asked.values())).share is not None:
        [name] = asked
        raise NotToBeShared(
            f"a share is a part of something: {name} alone gets all there is",
            remedy=f"ask for a rate, as in {name}=400Mbit, or name the other destinations too",
        )


def bounded(asked: Mapping[str, Asked], forecasts: Mapping[str, Forecast]) -> dict[str, Asked]:
    """The requests with an upper limit each: by default twice the highest measured concurrency.

    Beyond that a model's predictions are not reliable.
    """
    return {name: _bounded(one, forecasts[name].samples) for name, one in asked.items()}


def _bounded(asked: Asked, samples: Sequence[Served]) -> Asked:
    if asked.most is not None:
        return asked
    measured = max(one.concurrency for one in samples)
    return msgspec.structs.replace(asked, most=min(MOST_CONCURRENCY, _BEYOND * measured))


def capped(asked: Mapping[str, Asked], models: Mapping[str, Predicts]) -> dict[str, Predicts]:
    """The models, each limited to its rate limit."""
    return {name: _capped(models[name], one.ceiling_bps) for name, one in asked.items()}


def _capped(model: Predicts, ceiling_bps: float | None) -> Predicts:
    if ceiling_bps is None:
        return model
    return lambda concurrency, total: min(ceiling_bps, model(concurrency, total))


def held_back(asked: Mapping[str, Asked], rates_bps: Mapping[str, float]) -> set[str]:
    """The destinations whose rate limit, not their concurrency, decides these rates."""
    return {
        name
        for name, one in asked.items()
        if one.ceiling_bps and rates_bps.get(name, 0.0) >= _HELD_FROM * one.ceiling_bps
    }


def targets_of(
    asked: Mapping[str, Asked],
    models: Mapping[str, Predicts],
    base_bps: Mapping[str, float] | None = None,
) -> dict[str, Target]:
    """The requests, with factors converted to rates.

    `base_bps`: what was measured where all have `BASE` files; the model stands in for the others.
    """
    known_bps = base_bps or {}
    return {
        name: _target(one, known_bps.get(name) or models[name](BASE, BASE * len(asked)))
        for name, one in asked.items()
    }


def _target(asked: Asked, base_bps: float) -> Target:
    most = max(asked.most or MOST_CONCURRENCY, asked.held or 1)
    rate_bps = asked.rate_bps
    if asked.factor is not None:
        rate_bps = asked.factor * base_bps
    return Target(share=asked.share, rate_bps=rate_bps, held=asked.held, most=most)


def _row(name: str, asked: Asked, forecast: Forecast, allocation: Allocation) -> ShareRow:
    concurrency, total = allocation.concurrency[name], sum(allocation.concurrency.values())
    low_bps, high_bps = forecast.interval_bps(concurrency, total)
    expected_bps = allocation.expected_bps[name]
    return ShareRow(
        destination=name,
        asked=asked,
        asked_bps=allocation.asked_bps[name],
        concurrency=concurrency,
        expected_bps=expected_bps,
        interval_bps=(min(low_bps, expected_bps), max(min(high_bps, _most(asked)), expected_bps)),
        samples=len(forecast.samples),
        model_error=forecast.error,
        missed=_missed(name, asked, allocation) if name in allocation.missed else "",
    )


def _most(asked: Asked) -> float:
    return asked.ceiling_bps or float("inf")


def _missed(name: str, asked: Asked, allocation: Allocation) -> str:
    wanted, expected = allocation.asked_bps[name], allocation.expected_bps[name]
    is_short = expected < wanted
    what = f"{asked.words} is {format_rate(wanted)} here" if asked.rate_bps is None else asked.words
    can = f"{'at most' if is_short else 'no less than'} {format_rate(expected)}"
    if asked.ceiling_bps is not None and is_short and expected >= asked.ceiling_bps * 0.99:
        return f"{what}, but its rate is limited to {format_rate(asked.ceiling_bps)}"
    return f"{what}, but next to the others {can} can be expected"


def _notes(
    asked: Mapping[str, Asked],
    forecasts: Mapping[str, Forecast],
    allocation: Allocation,
    base_bps: Mapping[str, float],
) -> Iterable[str]:
    if guessed := [n for n, one in asked.items() if one.factor is not None and n not in base_bps]:
        yield (
            f"What {', '.join(guessed)} gets where all have {BASE} files was not measured in the "
            "last half hour: the model says what the factor refers to. --run measures it first."
        )
    rates_bps = [
        allocation.asked_bps[name]
        for name, one in asked.items()
        if one.rate_bps is not None or one.factor is not None
    ]
    for name in asked:
        if (error := forecasts[name].error) > _TOO_FAR_OFF:
            yield (
                f"The predictions for {name} were off by {error:.0%} on average when validated: "
                "train its model again, with longer steps or more of them."
            )
    samples = {name: forecasts[name].samples for name in asked}
    if beyond := beyond_words(allocation.concurrency, samples):
        yield beyond
    seen_bps = most_together_bps(forecasts)
    if len(rates_bps) > 1 and sum(rates_bps) > seen_bps:
        yield (
            f"The requested rates add up to {format_rate(sum(rates_bps))}; all destinations "
            f"together never got more than {format_rate(seen_bps)} so far."
        )


def needs_base(asked: Mapping[str, Asked]) -> bool:
    """Whether a factor is requested, and `BASE` files are within the limits of all."""
    has_factor = any(one.factor is not None for one in asked.values())
    return has_factor and all(one.most is None or one.most >= BASE for one in asked.values())


def measured_base_bps(
    samples: Mapping[str, Sequence[Served]], now_s: float, parallelism: int
) -> dict[str, float]:
    """What each destination got where all of these had `BASE` files, in the last half hour.

    The geometric mean of the rates, in bit/s; empty where that was not measured. `now_s`: Unix
    time. `parallelism`: streams of each file.
    """
    found: dict[float, dict[str, float]] = defaultdict(dict)
    for name, some in samples.items():
        for one in some:
            is_base = one.concurrency == BASE and one.parallelism in (0, parallelism)
            if is_base and one.source_concurrency == BASE * len(samples):
                found[one.when_s][name] = one.throughput_bps
    whole = [
        rates_bps
        for when_s, rates_bps in found.items()
        if len(rates_bps) == len(samples) and now_s - RECENT_S <= when_s <= now_s
    ]
    if not whole:
        return {}
    return {name: geometric_mean(one[name] for one in whole) for name in samples}


def most_together_bps(forecasts: Mapping[str, Forecast]) -> float:
    """The highest total rate of all destinations at any time, in bit/s."""
    together_bps: dict[float, float] = defaultdict(float)
    for forecast in forecasts.values():
        for one in forecast.samples:
            together_bps[one.when_s] += one.throughput_bps
    return max(together_bps.values(), default=0.0)
