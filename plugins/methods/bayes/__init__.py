"""bayes: knowledge gradient over a Bayesian linear model with a prior learned on other paths.

The logarithm of throughput is modelled over u, the parameters' base-2 logarithms in units of five
octaves, as the sum of a level for this path, φ(u)·w, a smooth remainder and a deviation per
setting. With t = 2u - 1, φ holds every t_i, (3t_i² - 1)/2 and t_i·t_j: rise, plateau or peak, and
how one parameter can substitute for another. (Legendre polynomials, because they are orthogonal
over 1 to 32: the coefficients are nearly independent, so a table of means and standard deviations
describes them.) w is normal; its mean depends on the file size. Everything is normal, so the
posterior is exact (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006,
equations 2.23, 2.24 and 2.41).

- The first setting is the one at which past transfers of similar files were fastest, according to
  HARP's surfaces (Arslan and Kosar 2018) without relaxation. Without such transfers it is the
  prior's best setting.
- The next setting is the one with the greatest knowledge gradient (Frazier, Powell and Dayanik,
  "The Knowledge-Gradient Policy for Correlated Normal Beliefs", 2009) per second that the probe is
  expected to take: the expected gain of the best posterior mean from measuring there.
- A path may be unlike all known ones. Then the general rows of the prior apply instead of the
  table. Both models are kept, weighted by how well each predicted the probes.
- Every octave of flows must gain `octave_cost` of throughput, and an octave of any other parameter
  a tenth of that: of settings that perform the same, the cheapest is probed and recommended.
- It stops when a probe is worth less than `least_gain`, after N probes, or when a probe reached C
  of the path's bandwidth, if that is known.
- The recommendation is the best posterior mean among the settings measured. A single best sample
  is usually the luckiest: among 200 settings whose repeats differ by 15 %, one is 40 % above its
  mean.
- A parameter that may be left to the kernel is a choice in addition to its sizes: the rate may jump
  there by any factor, and grow with the other parameters otherwise than at the upper bound.
- A failed probe counts as e^-2.5 of the best rate, which is also the floor of every other probe:
  how bad a bad setting is says nothing about the good ones.
- Two probes in a row that are both more than three standard deviations off on the same side mean
  that the path has changed: earlier measurements then have a sixteenth of their weight.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import Constant, Knowledge, MethodTraits, settled_constants
from advisor.api.values import AVAILABLE, Availability, Space

from .search import Bayes

CONSTANTS: Final = (
    Constant(
        name="N", default=20, lower=1, upper=1000, meaning="maximum number of probes", integer=True
    ),
    Constant(
        name="C", default=1, lower=0.01, upper=1, meaning="share of the path's bandwidth to stop at"
    ),
    Constant(
        name="octave_cost",
        default=0.03,
        lower=0,
        upper=1,
        meaning="share of throughput that doubling the flows must gain",
    ),
    Constant(
        name="least_gain",
        default=0.003,
        lower=0,
        upper=1,
        meaning="least expected gain of a probe, as a share of throughput",
    ),
    Constant(
        name="noise",
        default=0.2,
        lower=0.001,
        upper=2,
        meaning="assumed relative spread of a probe, until repeats show it",
    ),
    Constant(
        name="shipped",
        default=1,
        lower=0,
        upper=1,
        meaning="1: start from the shipped prior; 0: from history alone",
        integer=True,
    ),
    Constant(
        name="history",
        default=1,
        lower=0,
        upper=1,
        meaning="1: first probe where similar past transfers peaked; 0: where the prior does",
        integer=True,
    ),
)


class BayesPlugin:
    """How bayes is found and made."""

    name = "bayes"
    summary = "knowledge gradient over a Bayesian linear model with a learned prior"
    traits = MethodTraits(
        default_for=("network", "tool"),
        former_names=("octave",),
        # More files at a time gain a little at the end of the whole, which slices do not show.
        tool_constants={"octave_cost": 0.015},
    )
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

        Raises ValueError for a constant that bayes does not have.
        """
        return Bayes(space, knowledge, settled_constants(self.name, self.constants, constants))


plugin = BayesPlugin()
