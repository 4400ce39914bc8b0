"""HARP's optimiser from end to end: similar history, surfaces, weights, levels (HARP 2018, 3.2).

Where the history is too little for any surface the answer is the best that the entries most similar
gave, if that is more than the sample gave, and else the sample's own levels; `worth` says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np

from advisor.domain.quantities import format_rate
from advisor.domain.transfers import Conditions, Levels
from advisor.models.harp import surface as surfaces
from advisor.models.harp.entries import Floats, History, Indices
from advisor.models.harp.grouping import groups
from advisor.models.harp.optimum import (
    RELAXATION,
    Box,
    levels_of_row,
    maximum,
    mean_levels,
    relaxed,
    row_of,
)
from advisor.models.harp.similar import ENOUGH, Similar, similar
from advisor.models.harp.surface import Outlier, Surface
from advisor.models.harp.weighing import weights

# As the authors' own program has it, against polynomials that leave what was measured far behind.
_HIGHEST_PEAK: Final = 2.0
UNLIKE: Final = 0.95
"""Below this likeness the classes differ, or the paths do by more than an order of magnitude."""
_FAR_OFF: Final = 0.3


class NothingAlike(ValueError):
    """There is neither a sample nor a past transfer that says anything of the one wanted."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """What a short transfer gave just now; `throughput_bps` is above zero."""

    levels: Levels
    throughput_bps: float

    def __post_init__(self) -> None:
        if not 0 < self.throughput_bps < np.inf:
            raise ValueError(
                f"the sample's throughput is {self.throughput_bps:g}: take one that moved something"
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedGroup:
    """A group that has a surface, and what it says.

    `rows`: its entries in the history. `likeness`: their mean similarity. `expected_bps`: what the
    surface says of the sample's levels, None without a sample. `top`, `levels`: where the surface
    is highest, and the same after relaxation. `top_bps`: there.
    """

    rows: Indices
    likeness: float
    surface: Surface
    weight: float
    expected_bps: float | None
    top: Levels
    top_bps: float
    levels: Levels


@dataclass(frozen=True, eq=False, kw_only=True)
class OutlierGroup:
    """A group without a surface, and why: a clause without a full stop."""

    rows: Indices
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class HarpAnswer:
    """The levels to use, and what they stand on.

    `throughput_bps`: what to expect of them. `unit_throughput_bps`: of one channel with the same
    parallelism and pipelining (UT). `similar`: the entries found. `groups`: from the most weight to
    the least. `left_out`: the outlier groups. `worth`: how far to trust it, in sentences.
    """

    levels: Levels
    throughput_bps: float
    unit_throughput_bps: float
    similar: Similar
    groups: Sequence[FittedGroup]
    left_out: Sequence[OutlierGroup]
    worth: str

    def expected_bps(self, levels: Levels) -> float | None:
        """What the groups expect of other levels, each with its weight; None without any."""
        if not self.groups:
            return None
        row = row_of(levels)
        expected = [float(one.surface.plausible(row)[0]) for one in self.groups]
        return float(np.average(expected, weights=[one.weight for one in self.groups]))


class _Candidate(msgspec.Struct, frozen=True):
    rows: Indices
    surface: Surface
    top: Floats
    top_bps: float


def optimise(
    wanted: Conditions,
    sample: Sample | None,
    history: History,
    bounds: Box,
    rng: np.random.Generator,
    *,
    enough: int | None = None,
    keep: tuple[float, float, float] = RELAXATION,
) -> HarpAnswer:
    """The levels for a transfer, from similar ones of the past and a sample of now.

    `sample` None: all groups count the same. `rng` draws what the surfaces are checked with.
    `enough`: how many similar entries to look for, see `similar`. `keep`: the relaxation's ρ.
    Raises NothingAlike where there is neither a sample nor a history that fits.
    """
    found = similar(wanted, history, enough)
    fitted, left_out = _candidates(history, groups(history, found.rows), bounds, rng)
    if not fitted:
        return _without_surfaces(sample, history, found, bounds, left_out)
    weighed = _weights([one.surface for one in fitted], sample)
    lowered = [relaxed(one.surface, one.top, bounds, keep) for one in fitted]
    row = bounds.nearest(mean_levels(lowered, [one.surface.varied for one in fitted], weighed))
    unit = np.array([1.0, row[1], row[2]])
    predicted = np.array([one.surface.plausible(np.stack((row, unit))) for one in fitted])
    throughput_bps, unit_bps = np.average(predicted, axis=0, weights=weighed)
    told = _told(history, found, fitted, sample, weighed, lowered)
    return HarpAnswer(
        levels=levels_of_row(row),
        throughput_bps=float(throughput_bps),
        unit_throughput_bps=float(unit_bps),
        similar=found,
        groups=told,
        left_out=left_out,
        worth=_worth(history, found, told, len(left_out), sample),
    )


def _candidates(
    history: History, grouped: Sequence[Indices], box: Box, rng: np.random.Generator
) -> tuple[list[_Candidate], list[OutlierGroup]]:
    """The groups with a surface and its highest point, and those without."""
    fitted, left_out = [], []
    for rows in grouped:
        one = surfaces.fit(history.levels[rows], history.throughput_bps[rows], rng)
        if isinstance(one, Outlier):
            left_out.append(OutlierGroup(rows=rows, reason=one.reason))
            continue
        top = maximum(one, box)
        top_bps = float(one.at(top)[0])
        if 0 < top_bps <= _HIGHEST_PEAK * one.most_bps:
            fitted.append(_Candidate(rows, one, top, top_bps))
        else:
            reason = f"its surface goes to {format_rate(top_bps)}, which nothing measured is near"
            left_out.append(OutlierGroup(rows=rows, reason=reason))
    return fitted, left_out


def _weights(found: Sequence[Surface], sample: Sample | None) -> Floats:
    if sample is None:
        return np.ones(len(found))
    expected = np.array([one.at(row_of(sample.levels))[0] for one in found])
    return weights(sample.throughput_bps - expected, max(one.most_bps for one in found))


def _told(
    history: History,
    found: Similar,
    fitted: Sequence[_Candidate],
    sample: Sample | None,
    weighed: Floats,
    lowered: Sequence[Floats],
) -> list[FittedGroup]:
    alike = np.zeros(len(history))
    alike[found.rows] = found.likeness
    told = [
        FittedGroup(
            rows=one.rows,
            likeness=float(alike[one.rows].mean()),
            surface=one.surface,
            weight=float(weight),
            expected_bps=float(one.surface.at(row_of(sample.levels))[0]) if sample else None,
            top=levels_of_row(one.top),
            top_bps=one.top_bps,
            levels=levels_of_row(levels),
        )
        for one, weight, levels in zip(fitted, weighed, lowered, strict=True)
    ]
    return sorted(told, key=lambda one: -one.weight)


def _without_surfaces(
    sample: Sample | None,
    history: History,
    found: Similar,
    box: Box,
    left_out: Sequence[OutlierGroup],
) -> HarpAnswer:
    """The best that the most similar entries gave, if it is better than the sample."""
    seen = _best_seen(history, found, box)
    if sample and (seen is None or sample.throughput_bps >= seen.throughput_bps):
        best, whence = sample, "These are the sample's own levels"
        if seen is not None:
            whence += ", which gave no less than the best of the entries most similar"
    elif seen is not None:
        best, whence = seen, "These are the best levels among the entries most similar"
    else:
        raise NothingAlike(
            "HARP has nothing to go by: run a sample transfer, or bring past transfers of this kind"
        )
    counted = f"{len(found.rows)} similar {'entry' if len(found.rows) == 1 else 'entries'}"
    return HarpAnswer(
        levels=levels_of_row(box.nearest(row_of(best.levels))),
        throughput_bps=best.throughput_bps,
        # Channels that add up are the most that can be said of one.
        unit_throughput_bps=best.throughput_bps / best.levels.concurrency,
        similar=found,
        groups=(),
        left_out=left_out,
        worth=f"{whence}: no model stands on {counted}, so take them for a first guess.",
    )


def _best_seen(history: History, found: Similar, box: Box) -> Sample | None:
    """The setting with the highest median among the entries as similar as the first.

    None where even that is of another kind of path or files.
    """
    if not len(found.rows) or found.likeness[0] < UNLIKE:
        return None
    rows = found.rows[np.isclose(found.likeness, found.likeness[0])]
    within = (box.nearest(history.levels[rows]) == history.levels[rows]).all(axis=1)
    rows = rows[within]
    if not len(rows):
        return None
    settings, setting = np.unique(history.levels[rows], axis=0, return_inverse=True)
    setting = setting.reshape(-1)
    rates = history.throughput_bps[rows]
    medians = np.array([np.median(rates[setting == one]) for one in range(len(settings))])
    best = int(medians.argmax())
    return Sample(levels=levels_of_row(settings[best]), throughput_bps=float(medians[best]))


def _worth(
    history: History,
    found: Similar,
    told: Sequence[FittedGroup],
    outliers: int,
    sample: Sample | None,
) -> str:
    entries = sum(len(one.rows) for one in told)
    groups_ = "1 group" if len(told) == 1 else f"{len(told)} groups"
    words = [
        f"Stands on {entries} of {len(history)} past transfers in {groups_}, "
        f"a similarity of {found.threshold:.2f} or more"
        + (f"; {outliers} left out as no surface fits." if outliers else ".")
    ]
    if entries < ENOUGH:
        words.append(
            f"That is {entries / ENOUGH:.1%} of the {ENOUGH} that HARP was published with: "
            + ("a hint to be tried." if entries < ENOUGH / 10 else "usable, not certain.")
        )
    if max(one.likeness for one in told) < UNLIKE:
        words.append("None of them is of this kind of path and files.")
    if sample is None:
        words.append("No sample tells today's load, so all groups count the same.")
    elif all(_off(one, sample) > _FAR_OFF for one in told):
        words.append(
            f"No group comes within {_FAR_OFF:.0%} of the sample's "
            f"{format_rate(sample.throughput_bps)}: the history has not seen today's load."
        )
    return " ".join(words)


def _off(group: FittedGroup, sample: Sample) -> float:
    return abs((group.expected_bps or 0.0) / sample.throughput_bps - 1)
