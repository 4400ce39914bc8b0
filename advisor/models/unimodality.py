"""The probability that a curve has a single maximum, from repeated measurements of each point.

The confidence of the depth-width method (Rao et al. 2016, section V.B): "the fraction of
configurations that satisfy the unimodality property among the total configurations in our
measurements". A configuration is taken to be a choice of d of the traces recorded at every
point, whose maxima form the curve; all choices have the same weight. A curve is unimodal when it
never rises again after it fell: equal neighbours are neither.
"""

import math
from collections import defaultdict
from collections.abc import Sequence


def _maximum_odds(traces: Sequence[float], depth: int) -> dict[float, float]:
    """The probability that each value is the maximum of `depth` traces, without replacement."""
    odds: dict[float, float] = defaultdict(float)
    choices = math.comb(len(traces), depth)
    for rank, value in enumerate(sorted(traces)):
        odds[value] += math.comb(rank, depth - 1) / choices
    return odds


def unimodal_share(traces: Sequence[Sequence[float]], depth: int = 1) -> float:
    """The fraction of the choices of `depth` traces per point that give a unimodal curve, 0 to 1.

    `traces`: the throughputs measured at each point, in the order of the points. Raises ValueError
    for a point with fewer traces than `depth`, and for a depth below 1.
    """
    if depth < 1 or any(len(one) < depth for one in traces):
        raise ValueError(f"a depth of {depth} needs as many traces, and at least one, per point")
    rising: dict[float, float] = {0.0: 1.0}
    falling: dict[float, float] = {}
    for point in traces:
        higher: dict[float, float] = defaultdict(float)
        lower: dict[float, float] = defaultdict(float)
        for value, chance in _maximum_odds(point, depth).items():
            if not chance:
                continue
            higher[value] = chance * sum(odds for last, odds in rising.items() if last <= value)
            lower[value] = chance * (
                sum(odds for last, odds in rising.items() if last > value)
                + sum(odds for last, odds in falling.items() if last >= value)
            )
        rising, falling = higher, lower
    return min(1.0, sum(rising.values()) + sum(falling.values()))


def confidence_by_depth_and_width(
    curves: Sequence[Sequence[Sequence[float]]], depths: Sequence[int], widths: Sequence[int]
) -> dict[tuple[int, int], float]:
    """The mean share over the curves for each depth d and width w, where they allow it.

    As the method probes them: from the last point of a curve down, every w-th one. Left out are
    curves with fewer than d traces at a point, and those that have fewer than three points left:
    they cannot have two maxima.
    """
    found = {}
    for depth in depths:
        for width in widths:
            probed = [curve[::-1][::width] for curve in curves]
            usable = [c for c in probed if len(c) > 2 and all(len(t) >= depth for t in c)]
            if usable:
                shares = [unimodal_share(curve, depth) for curve in usable]
                found[depth, width] = math.fsum(shares) / len(shares)
    return found
