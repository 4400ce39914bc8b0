"""HARP's optimiser from end to end: similar history, surfaces, weights, levels (HARP 2018, 3.2).

Where the history is too small for any surface, the answer is the best setting among the most
similar entries if it outperformed the sample, else the sample's own levels; `worth` says so.

A flat group or one of another load never decides alone. A group is of another load if its surface
is more than 30 % off the sample. Where there are only such groups, the answer has no level below
that of the rule of thumb: the sample's, else the given one.

A surface may rise beyond what the link carries: no throughput is expected that exceeds that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
import numpy as np

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.quantities import format_rate
from advisor.domain.transfers import Conditions, Levels
from advisor.models.harp import surface as surfaces
from advisor.models.harp.entries import Floats, History, Indices
from advisor.models.harp.fitted import FittedSurface
from advisor.models.harp.grouping import groups
from advisor.models.harp.optimum import (
    DEFAULT_KEEP,
    Keep,
    LevelBounds,
    levels_of_row,
    maximum,
    mean_levels,
    relaxed,
    row_of,
)
from advisor.models.harp.similar import ENOUGH, FITTABLE, Similar, similar
from advisor.models.harp.smooth import FEW, fit_pooled
from advisor.models.harp.surface import Outlier
from advisor.models.harp.weighing import weights

# As in the authors' own program: rejects polynomials that far exceed what was measured.
_HIGHEST_PEAK: Final = 2.0
UNLIKE: Final = 0.95
"""Below this likeness the classes differ, or the paths do by more than an order of magnitude."""
FAR_OFF: Final = 0.3
"""A rate further off what is expected, as a fraction, is taken to be of another load."""


class NothingAlike(ProblemError, ValueError):
    """There is neither a sample nor a past transfer similar to the requested one."""

    kind = ProblemKind.NO_DATA


class SampleTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """The throughput of a short transfer just now; `throughput_bps` is above zero."""

    levels: Levels
    throughput_bps: float

    def __post_init__(self) -> None:
        if not 0 < self.throughput_bps < np.inf:
            raise ValueError(
                f"the sample's throughput is {self.throughput_bps:g}: take one that moved something"
            )


def carried_bps(wanted: Conditions, sample: SampleTransfer | None) -> float:
    """What may be expected at the most: what the link carries; infinite where that is not known.

    A sample that was faster shows that it carries as much.
    """
    if wanted.bandwidth_bps is None:
        return math.inf
    return max(wanted.bandwidth_bps, sample.throughput_bps if sample else 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedGroup:
    """A group that has a surface, with the surface's predictions.

    `rows`: its entries in the history. `likeness`: their mean similarity. `expected_bps`: the
    surface's value at the sample's levels, None without a sample. `top`, `top_bps`: the maximum of
    the surface. `levels`: those of the maximum after relaxation.
    """

    rows: Indices
    likeness: float
    surface: FittedSurface
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
    """The levels to use, and the evidence for them.

    `throughput_bps`: expected for them. `unit_throughput_bps`: of one channel with the same
    parallelism and pipelining (UT). `carried_bps`: what the link carries, infinite where that is
    not known: neither exceeds it. `similar`: the entries found. `groups`: in descending order of
    weight. `left_out`: the outlier groups. `worth`: how far to trust the answer, in sentences.
    """

    levels: Levels
    throughput_bps: float
    unit_throughput_bps: float
    carried_bps: float
    similar: Similar
    groups: Sequence[FittedGroup]
    left_out: Sequence[OutlierGroup]
    worth: str

    def at(self, levels: Levels) -> "HarpAnswer":
        """The same answer with other levels, and what its groups expect for them."""
        unit = msgspec.structs.replace(levels, concurrency=1)
        return replace(
            self,
            levels=levels,
            throughput_bps=self.expected_bps(levels) or self.throughput_bps,
            unit_throughput_bps=self.expected_bps(unit) or self.unit_throughput_bps,
        )

    def expected_bps(self, levels: Levels) -> float | None:
        """The groups' weighted prediction for other levels; None without any group."""
        if not self.groups:
            return None
        row = row_of(levels)
        expected = [float(one.surface.plausible(row, self.carried_bps)[0]) for one in self.groups]
        return float(np.average(expected, weights=[one.weight for one in self.groups]))


class _Candidate(msgspec.Struct, frozen=True):
    rows: Indices
    surface: FittedSurface
    top: Floats
    top_bps: float


class Optimiser:
    """The surfaces of the past transfers that are similar to one, for any number of samples.

    `enough`: number of similar entries to look for, see `similar`.
    """

    def __init__(
        self,
        wanted: Conditions,
        history: History,
        bounds: LevelBounds,
        enough: int | None = None,
    ) -> None:
        self._wanted = wanted
        self._history = history
        self._bounds = bounds
        self._similar = similar(wanted, history, enough)
        grouped = groups(history, self._similar.rows)
        self._fitted, self._left_out = _candidates(history, grouped, bounds)

    def answer(
        self,
        sample: SampleTransfer | None,
        *,
        keep: Keep = DEFAULT_KEEP,
        by_rule: Levels | None = None,
    ) -> HarpAnswer:
        """The levels for the transfer, by a sample of the present.

        `sample` None: all groups have the same weight. `keep`: the share of the estimate that lower
        levels must keep. `by_rule`: the levels of a rule of thumb, where there is no sample at
        them.
        Raises NothingAlike where there is neither a sample nor a similar history.
        """
        history, found, fitted, bounds = self._history, self._similar, self._fitted, self._bounds
        most = carried_bps(self._wanted, sample)
        if not fitted:
            return _without_surfaces(sample, history, found, bounds, self._left_out, most)
        weighed = _weights([one.surface for one in fitted], sample)
        lowered = [relaxed(one.surface, one.top, bounds, keep) for one in fitted]
        row = bounds.nearest(mean_levels(lowered, [one.surface.varied for one in fitted], weighed))
        fitted_groups = _as_groups(history, found, fitted, sample, weighed, lowered)
        floor = sample.levels if sample else by_rule
        is_raised = floor is not None and not any(_decides(one, sample) for one in fitted_groups)
        if floor is not None and is_raised:
            row = np.maximum(row, bounds.nearest(row_of(floor)))
        unit = np.array([1.0, row[1], row[2]])
        rows = np.stack((row, unit))
        predicted = np.array([one.surface.plausible(rows, most) for one in fitted])
        throughput_bps, unit_bps = np.average(predicted, axis=0, weights=weighed)
        return HarpAnswer(
            levels=levels_of_row(row),
            throughput_bps=float(throughput_bps),
            unit_throughput_bps=float(unit_bps),
            carried_bps=most,
            similar=found,
            groups=fitted_groups,
            left_out=self._left_out,
            worth=_worth(
                history, found, fitted_groups, len(self._left_out), sample, is_raised=is_raised
            ),
        )


def optimise(
    wanted: Conditions,
    sample: SampleTransfer | None,
    history: History,
    bounds: LevelBounds,
    *,
    enough: int | None = None,
    keep: Keep = DEFAULT_KEEP,
    by_rule: Levels | None = None,
) -> HarpAnswer:
    """The levels for one transfer and one sample; the arguments are those of `Optimiser`."""
    return Optimiser(wanted, history, bounds, enough).answer(sample, keep=keep, by_rule=by_rule)


def _candidates(
    history: History, grouped: Sequence[Indices], box: LevelBounds
) -> tuple[list[_Candidate], list[OutlierGroup]]:
    """The groups with a surface and its maximum, and those without."""
    fitted, left_out = [], []
    for rows, one in zip(grouped, _surfaces(history, grouped), strict=True):
        if isinstance(one, Outlier):
            left_out.append(OutlierGroup(rows=rows, reason=one.reason))
            continue
        top = maximum(one, box)
        top_bps = float(one.at(top)[0])
        if 0 < top_bps <= _HIGHEST_PEAK * one.most_bps:
            fitted.append(_Candidate(rows, one, top, top_bps))
        else:
            reason = f"its surface peaks at {format_rate(top_bps)}, far above all measurements"
            left_out.append(OutlierGroup(rows=rows, reason=reason))
    return fitted, left_out


def _surfaces(history: History, grouped: Sequence[Indices]) -> list[FittedSurface | Outlier]:
    """The surface of each group: the paper's regression, or a smooth one where there are few."""
    measured = [(history.levels[rows], history.throughput_bps[rows]) for rows in grouped]
    smooth = iter(fit_pooled([one for one in measured if len(one[0]) < FEW], FITTABLE))
    return [next(smooth) if len(one[0]) < FEW else surfaces.fit(*one) for one in measured]


def _weights(found: Sequence[FittedSurface], sample: SampleTransfer | None) -> Floats:
    if sample is None:
        return np.ones(len(found))
    expected = np.array([one.at(row_of(sample.levels))[0] for one in found])
    return weights(sample.throughput_bps - expected, max(one.most_bps for one in found))


def _as_groups(
    history: History,
    found: Similar,
    fitted: Sequence[_Candidate],
    sample: SampleTransfer | None,
    weighed: Floats,
    lowered: Sequence[Floats],
) -> list[FittedGroup]:
    alike = np.zeros(len(history))
    alike[found.rows] = found.likeness
    fitted_groups = [
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
    return sorted(fitted_groups, key=lambda one: -one.weight)


def _without_surfaces(
    sample: SampleTransfer | None,
    history: History,
    found: Similar,
    box: LevelBounds,
    left_out: Sequence[OutlierGroup],
    most: float,
) -> HarpAnswer:
    """The best setting among the most similar entries, if it is better than the sample."""
    seen = _best_seen(history, found, box)
    if sample and (seen is None or sample.throughput_bps >= seen.throughput_bps):
        best, origin = sample, "These are the sample's own levels"
        if seen is not None:
            origin += ", which gave no less than the best of the most similar entries"
    elif seen is not None:
        best, origin = seen, "These are the best levels among the most similar entries"
    else:
        raise NothingAlike(
            "HARP has no data",
            remedy="run a sample transfer, or import past transfers of this kind",
        )
    counted = f"{len(found.rows)} similar {'entry' if len(found.rows) == 1 else 'entries'}"
    throughput_bps = min(best.throughput_bps, most)
    return HarpAnswer(
        levels=levels_of_row(box.nearest(row_of(best.levels))),
        throughput_bps=throughput_bps,
        # An upper bound for one channel: that all channels add up.
        unit_throughput_bps=throughput_bps / best.levels.concurrency,
        carried_bps=most,
        similar=found,
        groups=(),
        left_out=left_out,
        worth=f"{origin}: {counted} are too few for a model, so treat them as a first guess.",
    )


def _best_seen(history: History, found: Similar, box: LevelBounds) -> SampleTransfer | None:
    """The setting with the highest median among the entries as similar as the first.

    None where even the first is of another kind of path or files.
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
    return SampleTransfer(levels=levels_of_row(settings[best]), throughput_bps=float(medians[best]))


def _worth(
    history: History,
    found: Similar,
    fitted_groups: Sequence[FittedGroup],
    outliers: int,
    sample: SampleTransfer | None,
    *,
    is_raised: bool,
) -> str:
    entries = sum(len(one.rows) for one in fitted_groups)
    groups_ = "1 group" if len(fitted_groups) == 1 else f"{len(fitted_groups)} groups"
    words = [
        f"Based on {entries} of {len(history)} past transfers in {groups_}, with "
        f"a similarity of {found.threshold:.2f} or more"
        + (f"; {outliers} left out as no surface fits." if outliers else ".")
    ]
    if smooth := sum(one.surface.kind == "smooth" for one in fitted_groups):
        words.append(
            f"{smooth} of the groups {'has' if smooth == 1 else 'have'} fewer than {FEW} entries: "
            "a smooth surface with a prior, not HARP's regression."
        )
    if entries < ENOUGH:
        words.append(
            f"That is {entries / ENOUGH:.1%} of the {ENOUGH} that HARP was published with: "
            + ("a hint to try." if entries < ENOUGH / 10 else "usable, not certain.")
        )
    if max(one.likeness for one in fitted_groups) < UNLIKE:
        words.append("None of them is of this kind of path and files.")
    if sample is None:
        words.append("No sample shows today's load, so all groups have the same weight.")
    elif all(_off(one, sample) > FAR_OFF for one in fitted_groups):
        words.append(
            f"No group comes within {FAR_OFF:.0%} of the sample's "
            f"{format_rate(sample.throughput_bps)}: the history has not seen today's load."
        )
    if is_raised:
        words.append(
            "No group of this load varies with the levels, so none is below the rule of thumb's."
        )
    return " ".join(words)


def _decides(group: FittedGroup, sample: SampleTransfer | None) -> bool:
    """Whether a group may decide alone: it is not flat, and not of another load."""
    is_of_load = sample is None or _off(group, sample) <= FAR_OFF
    return is_of_load and not group.surface.is_flat


def _off(group: FittedGroup, sample: SampleTransfer) -> float:
    return abs((group.expected_bps or 0.0) / sample.throughput_bps - 1)
