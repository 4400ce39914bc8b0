"""Which past transfers are like the one wanted (HARP 2018, section 3.2.2, equation 1).

The scan of equation 1 is the cosine of the angle between two vectors of features, Σ A·B over the
product of their lengths; the weights are taken to stand before each feature's part of the sums.

The paper normalises the features without saying how. Each is brought to 0 … 1 over a fixed range,
on a logarithmic scale but for the class, and laid on a quarter of the unit circle, as (cos, sin).
So every feature has the same length, as the paper asks ("otherwise one property may overweight"),
the cosine is the weighted mean of the features' own, 1 for the same conditions alone (scaled
figures as such would make 0.2 of everything the same as 0.9 of everything), and two transfers are
as similar in one history as in any other.
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
"""How many entries the paper lowers its threshold for …"""
PAPERS_HISTORY: Final = 21_000
"""… of as many. With less history the same share is enough here, where the authors' own program
goes on lowering its threshold for ever; below 6000 the share falls in proportion as well, for of
little history only what is really alike is worth anything …"""
FITTABLE: Final = 10
"""… down to the entries that a surface of two levels takes to be fitted and checked."""

# Link 1 Mbit/s to 1 Tbit/s, RTT 0.1 ms to 1 s, BDP over buffer, files 1 KB to 1 TB, a million.
_LOWEST: Final = np.array([1e6, 1e-4, 1e-3, 0.0, 1e3, 1.0])
_HIGHEST: Final = np.array([1e12, 1.0, 1e3, 3.0, 1e12, 1e6])
LOGARITHMIC: Final = np.array([True, True, True, False, True, True])
"""Which features differ by factors; the class by steps."""

# An entry that does not tell a feature may be anything: between the same and the opposite.
_UNKNOWN: Final = math.sqrt(0.5)


@dataclass(frozen=True, eq=False, kw_only=True)
class Similar:
    """The entries found, as rows of the history, most similar first.

    `likeness`: of each row found, in 0 … 1. `threshold`: what all of them reach.
    """

    rows: Indices
    likeness: Floats
    threshold: float


def enough_of(entries: int) -> int:
    """How many similar entries to look for in a history of so many."""
    share = ENOUGH / PAPERS_HISTORY * min(1.0, entries / ENOUGH)
    return min(ENOUGH, max(FITTABLE, math.ceil(entries * share)))


def likeness(wanted: Conditions, history: History) -> Floats:
    """The similarity of every entry to the transfer wanted, in 0 … 1.

    A feature that is not known of the transfer wanted is left out.
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

    `enough`: above zero; `enough_of` the history where it is not said. With fewer entries than
    that all are taken. Of more than the paper's 6000 (or `enough`, if that is more) above 0.99 the
    newest are: its authors, too, would "put a time limit to remove old entries".
    """
    alike = likeness(wanted, history)
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
    """The newest of the rows, in their order; without a time the later rows are the newer ones."""
    if len(rows) <= most:
        return rows
    when_s = np.nan_to_num(history.when_s[rows], nan=-np.inf)
    newest: Indices = rows[np.sort(np.lexsort((rows, when_s))[-most:])]
    return newest
