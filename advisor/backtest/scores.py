"""The score of a method's searches over many tables and seeds."""

from collections.abc import Sequence

import msgspec
import numpy as np

from advisor.backtest.replay import Replayed


class MethodScore(msgspec.Struct, frozen=True, kw_only=True):
    """Over all tables and seeds.

    `median`, `p10`: of the recommended setting's throughput as a fraction of the table's best.
    `probes`, `seconds`, `flows`: means. `within_5_percent`: fraction of searches whose recommended
    setting reaches at least 95 % of the best.
    """

    median: float
    p10: float
    probes: float
    seconds: float
    flows: float
    within_5_percent: float


def score(searches: Sequence[Replayed]) -> MethodScore:
    """The score of at least one search."""
    fractions = np.array([one.fraction for one in searches])
    return MethodScore(
        median=float(np.median(fractions)),
        p10=float(np.quantile(fractions, 0.1)),
        probes=float(np.mean([one.probes for one in searches])),
        seconds=float(np.mean([one.elapsed_s for one in searches])),
        flows=float(np.mean([one.flows for one in searches])),
        within_5_percent=float(np.mean(fractions >= 0.95)),
    )


def regret_over_time(
    searches: Sequence[Replayed], at_s: Sequence[float]
) -> list[tuple[float, float]]:
    """Mean regret at each of these times and its 90th percentile; 1 before a search's first probe.

    The searches must have been replayed with their regret.
    """
    rows = []
    for one in searches:
        ends_s = [0.0, *(t for t, _ in one.regret)]
        values = [1.0, *(r for _, r in one.regret)]
        rows.append(np.array(values)[np.searchsorted(ends_s, at_s, side="right") - 1])
    whole = np.array(rows)
    upper = np.quantile(whole, 0.9, axis=0)
    return list(zip(whole.mean(axis=0).tolist(), upper.tolist(), strict=True))
