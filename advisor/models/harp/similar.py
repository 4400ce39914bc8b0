"""Which past transfers are similar to the requested one (HARP 2018, section 3.2.2, equation 1).

Equation 1 is the cosine of the angle between two vectors of features, Σ A·B over the product of
their lengths; the weights are assumed to multiply each feature's part of the sums.

The paper normalises the features without saying how. Here each is scaled to 0 … 1 over a fixed
range, logarithmically except for the class, and mapped to a quarter of the unit circle, as
(cos, sin). So every feature has the same length, as the paper requires ("otherwise one property may
overweight"), and the cosine is the weighted mean of the features' own cosines. It is 1 only for the
same conditions (with plain scaled figures, 0.2 of everything would equal 0.9 of everything), and
the similarity of two transfers does not depend on the history.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.domain.transfers import Conditions
from advisor.models.harp.entries import Floats, History, Indices, features_of

WEIGHTS: Final = np.array([2.0, 2.0, 10.0, 10.0, 3.0, 1.0])
"""Of bandwidth, RTT, BDP / buffer, class, size and count, from the paper."""

FIRST_THRESHOLD: Final = 0.99
THRESHOLD_STEP: Final = 0.01
ENOUGH: Final = 6000
"""The number of entries at which the paper stops lowering its threshold …"""
PAPERS_HISTORY: Final = 21_000
"""… out of this many. With less history the same fraction is enough here, where the authors' own
program lowers its threshold indefinitely; below 6000 entries the fraction falls in proportion as
well, since in a small history only closely similar entries are useful …"""
FITTABLE: Final = 10
"""… down to the number needed to fit and check a surface of two levels."""

# Link 1 Mbit/s to 1 Tbit/s, RTT 0.1 ms to 1 s, BDP over buffer, files 1 KB to 1 TB, a million.
_LOWEST: Final = np.array([1e6, 1e-4, 1e-3, 0.0, 1e3, 1.0])
_HIGHEST: Final = np.array([1e12, 1.0, 1e3, 3.0, 1e12, 1e6])
LOGARITHMIC: Final = np.array([True, True, True, False, True, True])
"""Which features differ by factors; the class differs by steps."""

# The value of an unknown feature: midway between the same and the opposite.
_UNKNOWN: Final = math.sqrt(0.5)


@dataclass(frozen=True, eq=False, kw_only=True)
class Similar:
    """The entries found, as rows of the history, most similar first.

    `likeness`: of each row found, in 0 … 1. `threshold`: reached by all of them.
    """

    rows: Indices
    likeness: Floats
    threshold: float


def enough_of(entries: int) -> int:
    """The number of similar entries to look for in a history of `entries`."""
    share = ENOUGH / PAPERS_HISTORY * min(1.0, entries / ENOUGH)
    return min(ENOUGH, max(FITTABLE, math.ceil(entries * share)))


def similarities(wanted: Conditions, history: History) -> Floats:
    """The similarity of every entry to the requested transfer, in 0 … 1.

    Features unknown for the requested transfer are left out.
    """
    target = features_of(wanted)
    known = ~np.isnan(target)
    apart = np.cos(_angles(history.features) - _angles(target))
    apart[np.isnan(apart)] = _UNKNOWN
    weights = WEIGHTS[known]
    alike: Floats = apart[:, known] @ weights / weights.sum()
    return np.clip(alike, 0.0, 1.0)


def _angles(features: Floats) -> Floats:
    scaled = np.where(LOGARITHMIC, np.log(np.maximum(features, 1e-300)), features)
    lowest = np.log(_LOWEST, where=LOGARITHMIC, out=_LOWEST.copy())
    highest = np.log(_HIGHEST, where=LOGARITHMIC, out=_HIGHEST.copy())
    place = np.clip((scaled - lowest) / (highest - lowest), 0.0, 1.0)
    angles: Floats = place * (math.pi / 2)
    return angles


def similar(wanted: Conditions, history: History, enough: int | None = None) -> Similar:
    """The entries above a threshold, which is lowered from 0.99 until there are `enough`.

    `enough`: above zero; `enough_of` the history by default. If the history has fewer, all are
    used. If more than the paper's 6000 (or `enough`, if that is more) are above 0.99, the newest
    are used: its authors, too, would "put a time limit to remove old entries".
    """
    alike = similarities(wanted, history)
    order = np.argsort(-alike, kind="stable")
    enough = min(enough or enough_of(len(history)), len(history))
    threshold = FIRST_THRESHOLD
    if enough and (last := alike[order[enough - 1]]) < threshold:
        threshold = math.floor(last / THRESHOLD_STEP) * THRESHOLD_STEP
    rows = order[alike[order] >= threshold]
    if threshold == FIRST_THRESHOLD:
        rows = _newest(history, rows, max(enough, ENOUGH))
    return Similar(rows=rows, likeness=alike[rows], threshold=threshold)


def _newest(history: History, rows: Indices, most: int) -> Indices:
    """The newest of the rows, in order; without a time, later rows count as newer."""
    if len(rows) <= most:
        return rows
    when_s = np.nan_to_num(history.when_s[rows], nan=-np.inf)
    newest: Indices = rows[np.sort(np.lexsort((rows, when_s))[-most:])]
    return newest
