"""bayes: knowledge gradient over a Bayesian linear model, whose prior other paths taught.

The logarithm of throughput is modelled over u, the parameters' base-2 logarithms in units of five
octaves, as a level of its own for this path + φ(u)·w + a smooth remainder + a deviation per
setting. With t = 2u - 1, φ holds every t_i, (3t_i² - 1)/2 and t_i·t_j: rise, plateau or peak, and
how parameters stand in for each other. (Legendre's polynomials, because over 1 to 32 they are
orthogonal: what is known of one coefficient says next to nothing of another, and a table of means
and deviations tells all.) w is normal; its mean depends on the files' size. Everything is normal,
so that the posterior is exact (Rasmussen and Williams, "Gaussian Processes for Machine Learning",
2006, equations 2.23, 2.24 and 2.41).

- The first setting is the one where past transfers of files that were alike went fastest, as HARP's
  surfaces have it (Arslan and Kosar 2018), unrelaxed. Where there are none, it is the prior's best.
- The next setting is the one with the greatest knowledge gradient (Frazier, Powell and Dayanik,
  "The Knowledge-Gradient Policy for Correlated Normal Beliefs", 2009) per second it is thought to
  take: what the best posterior mean is expected to gain from measuring there.
- A path may be unlike all those known. Then the general rows of the prior hold instead of the
  table; both are carried along, weighted by how well each foretold the probes.
- Every octave of flows, and a tenth of that for any other parameter, must pay for itself with
  `octave_cost` of throughput: of settings that perform the same, the cheapest is probed and
  recommended.
- It stops when a probe is worth less than `least_gain`, after N, or when a probe reached C of the
  path's bandwidth, where that is known: there is nothing above.
- The recommendation is the best posterior mean among the settings measured. A single best
  sample is most often the luckiest: among 200 settings with repeats that differ by 15 % one
  stands 40 % above its mean.
- A failed probe counts as a rate e^-2.5 of the best, which is also the floor of every other: how
  bad a bad setting is teaches nothing about the good ones.
- Two probes in a row, both more than three standard deviations off on the same side, say that the
  path has changed: what was measured before them weighs a sixteenth from then on.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import Constant, Knowledge, MethodTraits, settled_constants
from advisor.api.values import AVAILABLE, Availability, Space

from .search import Bayes

CONSTANTS: Final = (
    Constant(name="N", default=20, lower=1, upper=1000, meaning="probes at most", integer=True),
    Constant(
        name="C", default=1, lower=0.01, upper=1, meaning="share of the path's bandwidth to stop at"
    ),
    Constant(
        name="octave_cost",
        default=0.03,
        lower=0,
        upper=1,
        meaning="share of throughput that twice the flows must gain",
    ),
    Constant(
        name="least_gain",
        default=0.003,
        lower=0,
        upper=1,
        meaning="share of throughput a probe must be expected to gain",
    ),
    Constant(
        name="noise",
        default=0.2,
        lower=0.001,
        upper=2,
        meaning="spread of a probe, as a share, before repeats tell",
    ),
    Constant(
        name="shipped",
        default=1,
        lower=0,
        upper=1,
        meaning="1: start from the prior that ships; 0: from history alone",
        integer=True,
    ),
    Constant(
        name="history",
        default=1,
        lower=0,
        upper=1,
        meaning="1: probe first where past transfers alike to this one peaked; 0: by the prior",
        integer=True,
    ),
)


class BayesPlugin:
    """How bayes is found and made."""

    name = "bayes"
    summary = "knowledge gradient over a Bayesian linear model with a learned prior"
    traits = MethodTraits(default_for=("network",), former_names=("octave",))
    constants = CONSTANTS

    def available(self) -> Availability:
        """Always: it needs nothing but numpy."""
        return AVAILABLE

    def create(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> Bayes:
        """A new search; it draws nothing at random.

        Raises ValueError for a constant that is not bayes's.
        """
        return Bayes(space, knowledge, settled_constants(self.name, self.constants, constants))


plugin = BayesPlugin()
