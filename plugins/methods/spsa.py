"""SPSA as ProbData (2017) profiles with it, at any rate; see `advisor/methods/perturbing.py`.

It differs in two ways from the paper, whose exact form is `spsa-probdata`:

- The gradient has no unit. The paper's is in Gbit/s, with constants for connections of 10 Gbit/s.
  Here throughputs are in tenths of the highest so far, which is the same on such a connection once
  it is full: the same relative difference between y+ and y− moves the point equally far at any
  rate.
- While the search is impeded, the distance to y+ and y− is drawn again in each dimension, between
  c_k and the enlarged one, which is half the range at most; and no step is longer than half the
  range. The paper's enlarged steps soon reach from one corner of the box to the opposite one in
  every iteration, and see nothing of what is between. Distances that are drawn between two positive
  bounds are within the conditions of SPSA (Spall 1992), as ±1 is.
"""

from typing import Final

from advisor.api.method import (
    PERTURBATION_CONSTANTS,
    PERTURBATION_TRAITS,
    Array,
    Perturbation,
    SearchPlugin,
)

_FULL: Final = 10.0
"""Gbit/s of the paper's connections."""

_HALF_RANGE: Final = (Perturbation.range[1] - Perturbation.range[0]) / 2


class Spsa(Perturbation):
    """One search. See the module's text."""

    def _scaled(self, bps: float) -> float:
        best_bps = self._best[1] if self._best else 0.0
        return _FULL * bps / best_bps if best_bps else 0.0

    def _distances(self, c_k: float, grown: float) -> Array:
        longest = max(c_k, min(c_k * grown, _HALF_RANGE))
        return self._rng.uniform(c_k, longest, size=self._space.dimensions)

    def _bounded(self, step: Array) -> Array:
        return step.clip(-_HALF_RANGE, _HALF_RANGE)


plugin = SearchPlugin(
    name="spsa",
    summary="simultaneous perturbation stochastic approximation (ProbData, 2017), at any rate",
    traits=PERTURBATION_TRAITS,
    constants=PERTURBATION_CONSTANTS,
    make=Spsa,
)
