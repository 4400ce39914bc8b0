"""What several connections reach together, compared with each alone. Pure."""

from collections.abc import Sequence

import msgspec

from advisor.domain.advice import Estimate
from advisor.models.comparison import Comparison


class Together(msgspec.Struct, frozen=True, kw_only=True):
    """Rates in bit/s, each list in the order of the connections; see `advice.AtOnce`.

    `settled`: more measurements would not change whether the total is more than the best alone.
    """

    alone: list[Estimate]
    at_once: list[Estimate]
    total: Estimate
    gain: Estimate
    adds: bool
    settled: bool


def compare_at_once(
    alone_bps: Sequence[Sequence[float]],
    at_once_bps: Sequence[Sequence[float]],
    most_bps: float | None = None,
) -> Together:
    """`alone_bps`: the throughputs of each connection alone; `at_once_bps`: one of each for each
    time that all sent, of which one alone proves nothing. `most_bps`: what is reserved for all
    together. Raises ValueError without a throughput above zero of each.
    """
    totals = [sum(one) for one in at_once_bps]
    # Together they vary less than each of them does beside the others.
    compared = Comparison([*alone_bps, totals])
    beside = Comparison(list(zip(*at_once_bps, strict=True)))
    numbers = range(len(alone_bps))
    alone = [compared.mean(number) for number in numbers]
    best = max(numbers, key=lambda number: alone[number].value)
    all_of_them = len(alone)
    gain = compared.ratio(all_of_them, best)
    repeated = len(totals) > 1
    return Together(
        alone=alone,
        at_once=[beside.mean(number) for number in numbers],
        total=_within(compared.next_one(all_of_them), most_bps),
        gain=gain,
        adds=repeated and gain.interval[0] > 1 and gain.value > 1 + compared.same.practically,
        settled=repeated and compared.settled(all_of_them, best),
    )


def _within(total: Estimate, most_bps: float | None) -> Estimate:
    if most_bps is None:
        return total
    lower_bps, upper_bps = (min(bound, most_bps) for bound in total.interval)
    return Estimate(min(total.value, most_bps), (lower_bps, upper_bps))
