"""What a surface over the levels is, however it was fitted."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from advisor.domain.evidence import SurfaceKind
from advisor.models.harp.entries import Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedSurface(ABC):
    """f(concurrency, parallelism, pipelining) of one group, in bit/s.

    `degree`: of its polynomial. `lower`, `upper`: the measured range of levels; outside it, the
    value at the edge is returned. `least_bps`, `most_bps`: the measured range. `training_r2`,
    `validation_r2`: coefficients of determination of the fit and of the check.
    """

    degree: int
    lower: Floats
    upper: Floats
    least_bps: float
    most_bps: float
    training_r2: float
    validation_r2: float

    @property
    @abstractmethod
    def kind(self) -> SurfaceKind:
        """How it was fitted."""

    @property
    @abstractmethod
    def is_flat(self) -> bool:
        """Whether it shows no influence of the levels that would hold for held-out entries."""

    @abstractmethod
    def at(self, levels: Floats) -> Floats:
        """The throughputs at levels, one row each, in bit/s."""

    @abstractmethod
    def slope(self, levels: Floats) -> Floats:
        """The three derivatives at one setting within the bounds, in bit/s per level."""

    @property
    def varied(self) -> np.ndarray:
        """Which of the three levels the group varied."""
        varied: np.ndarray = self.upper > self.lower
        return varied

    def plausible(self, levels: Floats, carried_bps: float) -> Floats:
        """As `at`, but never below a tenth of the least measured value, nor above `carried_bps`."""
        return np.minimum(np.maximum(self.at(levels), self.least_bps / 10), carried_bps)

    def clipped(self, levels: Floats) -> Floats:
        """The nearest levels within the measured range."""
        return np.clip(levels, self.lower, self.upper)
