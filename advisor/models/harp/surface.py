"""Throughput as a polynomial of the levels, one for each group (HARP 2018, section 3.2.3, eq. 2).

The degree rises until the coefficient of determination is above 0.7 both for the fit and for
entries that were held out; a group for which it never is, is an outlier. The paper holds out 30 %
at random. For groups near the threshold the draw then decides whether they pass, and with them the
advice. Here each entry is held out once (leave-one-out cross-validation, in closed form from the
leverages), so nothing is drawn and the same history always gives the same advice.

The paper starts with degree one and finds that mostly "quadratic or cubic" passes. A plane has its
maximum in a corner of the box whatever was measured, and passes for half of the published grids. So
here, as in the authors' own program, the quadratic is tried first and degree four after the cubic;
the plane comes last, for groups with too few entries for anything else or that fit nothing else.

Where no polynomial fits because all settings of a group gave the same throughput, within FLAT, R²
is that of the noise. Such a group is not an outlier: it shows that the levels do not matter here.
It gets a surface of degree 0, whose maximum is the cheapest setting.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import Final

import msgspec
import numpy as np

from advisor.domain.evidence import SurfaceKind
from advisor.models.harp.entries import Floats, Indices
from advisor.models.harp.fitted import FittedSurface

LEAST_R2: Final = 0.7
FLAT: Final = 0.1
"""Standard deviation over mean below which a group counts as flat; repeats of one setting differ by
8 to 23 % on the published grids."""
DEGREES: Final = (2, 3, 4, 1)
_ENTRIES_PER_COEFFICIENT: Final = 1.5
_SURPLUS_ENTRIES: Final = 3
_RANK: Final = 1e-9
_LEAST_FREEDOM: Final = 1e-9


class Outlier(msgspec.Struct, frozen=True):
    """Why a group is left out: a clause without a full stop."""

    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Surface(FittedSurface):
    """A polynomial of the levels. The R² are 0 at degree 0, which is not checked."""

    powers: Indices
    coefficients: Floats

    @property
    def kind(self) -> SurfaceKind:
        """A polynomial, or flat."""
        return "flat" if self.is_flat else "polynomial"

    @property
    def is_flat(self) -> bool:
        """Whether all settings gave the same."""
        return self.degree == 0

    def at(self, levels: Floats) -> Floats:
        """The polynomial's throughputs at levels, one row each, in bit/s."""
        places = self._places(np.atleast_2d(levels))
        values: Floats = _terms(places, self.powers) @ self.coefficients
        return values

    def slope(self, levels: Floats) -> Floats:
        """The three derivatives at one setting within the bounds, in bit/s per level."""
        places = self._places(levels[None, :])[0]
        slopes = np.zeros(3)
        for axis in np.flatnonzero(self.varied):
            lowered = self.powers.copy()
            lowered[:, axis] = np.maximum(lowered[:, axis] - 1, 0)
            terms = self.powers[:, axis] * np.prod(places**lowered, axis=1)
            slopes[axis] = terms @ self.coefficients / (self.upper[axis] - self.lower[axis])
        return slopes

    def _places(self, levels: Floats) -> Floats:
        return _scaled(self.clipped(levels), self.lower, self.upper)


def _varied(lower: Floats, upper: Floats) -> np.ndarray:
    varied: np.ndarray = upper > lower
    return varied


def _scaled(levels: Floats, lower: Floats, upper: Floats) -> Floats:
    # A polynomial of these is also one of the levels, and better conditioned.
    scaled: Floats = (levels - lower) / np.where(_varied(lower, upper), upper - lower, 1.0)
    return scaled


def fit(levels: Floats, throughput_bps: Floats) -> Surface | Outlier:
    """The surface of a group, or why it is left out. `levels`: one row of three per entry."""
    lower, upper = levels.min(axis=0), levels.max(axis=0)
    varied = _varied(lower, upper)
    axes = int(varied.sum())
    if not axes:
        return Outlier("it has one setting")
    places = _scaled(levels, lower, upper)[:, varied]
    if not _is_enough(len(levels), 1, axes):
        return Outlier(f"it has {len(levels)} entries, too few to fit and to check a fit")
    best = -np.inf
    for degree in DEGREES:
        if not _is_enough(len(levels), degree, axes):
            continue
        powers = _powers(degree, axes)
        terms = _terms(places, powers)
        r2 = _checked(terms, throughput_bps)
        best = max(best, min(r2))
        if min(r2) > LEAST_R2:
            of_all = np.zeros((len(powers), 3), dtype=np.intp)
            of_all[:, varied] = powers
            return Surface(
                degree=degree,
                lower=lower,
                upper=upper,
                least_bps=float(throughput_bps.min()),
                most_bps=float(throughput_bps.max()),
                training_r2=r2[0],
                validation_r2=r2[1],
                powers=of_all,
                coefficients=_coefficients(terms, throughput_bps),
            )
    if throughput_bps.std() <= FLAT * throughput_bps.mean():
        return _flat(lower, upper, throughput_bps)
    return Outlier(f"no polynomial fits it: R² reaches {best:.2f}, not {LEAST_R2:g}")


def _is_enough(entries: int, degree: int, axes: int) -> bool:
    coefficients = comb(degree + axes, axes)
    least = max(_ENTRIES_PER_COEFFICIENT * coefficients, coefficients + _SURPLUS_ENTRIES)
    return entries >= least


def _flat(lower: Floats, upper: Floats, throughput_bps: Floats) -> Surface:
    return Surface(
        degree=0,
        lower=lower,
        upper=upper,
        least_bps=float(throughput_bps.min()),
        most_bps=float(throughput_bps.max()),
        training_r2=0.0,
        validation_r2=0.0,
        powers=np.zeros((1, 3), dtype=np.intp),
        coefficients=np.array([throughput_bps.mean()]),
    )


@lru_cache
def _powers(degree: int, axes: int) -> Indices:
    """The powers of each level in each term of a polynomial."""
    terms = (
        one
        for total in range(degree + 1)
        for one in combinations_with_replacement(range(axes), total)
    )
    return np.array([np.bincount(one, minlength=axes) for one in terms], dtype=np.intp)


def _terms(places: Floats, powers: Indices) -> Floats:
    terms: Floats = np.prod(places[:, None, :] ** powers, axis=2)
    return terms


def _coefficients(terms: Floats, rates_bps: Floats) -> Floats:
    from scipy.linalg import lstsq  # Imported late: it takes longer than all the rest.

    found: Floats = lstsq(terms, rates_bps)[0]
    return found


def _checked(terms: Floats, rates_bps: Floats) -> tuple[float, float]:
    """The R² of the fit, and of the entries when each is held out once."""
    basis, sizes, _ = np.linalg.svd(terms, full_matrices=False)
    basis = basis[:, sizes > sizes[0] * _RANK]
    off = rates_bps - basis @ (basis.T @ rates_bps)
    # An entry with a leverage of 1 alone decides a coefficient: without it there is no estimate.
    alone = np.maximum(1 - (basis**2).sum(axis=1), _LEAST_FREEDOM)
    return _r2(rates_bps, rates_bps - off), _r2(rates_bps, rates_bps - off / alone)


def _r2(rates_bps: Floats, expected_bps: Floats) -> float:
    """The coefficient of determination; 0 where there is no variance to explain."""
    spread = ((rates_bps - rates_bps.mean()) ** 2).sum()
    missed = ((rates_bps - expected_bps) ** 2).sum()
    return float(1 - missed / spread) if spread > 0 else 0.0
