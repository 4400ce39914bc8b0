"""SPSA in the exact form of ProbData (2017); see `advisor/methods/perturbing.py` for the algorithm.

- Throughputs are in Gbit/s, as a = 15 supposes for connections of 10 Gbit/s. So the same relative
  difference between y+ and y− moves the point ten times less far at 1 Gbit/s than at 10, and
  hardly at all at 0.1.
- While the search is impeded, a and c grow without limit. Clipped to the box, y+ and y− are then
  opposite corners of it.

`spsa` is the same without these two.
"""

from typing import Final

import numpy as np

from advisor.api.method import (
    PERTURBATION_CONSTANTS,
    PERTURBATION_TRAITS,
    Array,
    Perturbation,
    SearchPlugin,
)

_GBIT: Final = 1e9


class ProbDataSpsa(Perturbation):
    """One search. See the module's text."""

    def _scaled(self, bps: float) -> float:
        return bps / _GBIT

    def _distances(self, c_k: float, grown: float) -> Array:
        return np.full(self._space.dimensions, c_k * grown)

    def _bounded(self, step: Array) -> Array:
        return step


plugin = SearchPlugin(
    name="spsa-probdata",
    summary="SPSA exactly as in ProbData (2017), with a gradient in Gbit/s",
    traits=PERTURBATION_TRAITS,
    constants=PERTURBATION_CONSTANTS,
    make=ProbDataSpsa,
)
