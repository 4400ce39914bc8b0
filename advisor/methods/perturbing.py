"""Simultaneous perturbation stochastic approximation, as ProbData profiles with it.

Source: Yun et al., "Data Transfer Advisor with Transport Profiling Optimization" (2017),
equations 1 to 9, algorithm 1 and sections III.C, III.D and IV.D. In the paper's signs:

- θ' is searched in the iterative range [1, 25] of every dimension and mapped to actual values by
  the parameter's scale, the scaling function λ of equation 9.
- Iteration k: a_k = a / (A + k + 1)^α, c_k = c / (k + 1)^γ; a perturbation Δ_k of ±1 with equal
  chance in each dimension; y+ is measured at θ'_k + c_k Δ_k and y− at θ'_k − c_k Δ_k;
  ĝ_i = (y+ − y−) / (2 c_k Δ_i); θ'_{k+1} = θ'_k + a_k ĝ; y* is measured at θ'_{k+1}.
- It stops when a throughput y reaches C times the connection's bandwidth (performance gain
  ratio), after more than L iterations in a row without a better one (impeded progress), or after
  N iterations (upper bound).
- While it is impeded, a and c are enlarged by τ_a and τ_c (III.D).

What the text leaves open, and what is done here:

- The scan garbles lines 3 to 8 of algorithm 1; they are rebuilt from III.A, III.B and IV.D.
- θ' ± c_k Δ_k may leave the box. Both are clipped to it, and the denominator is the step that was
  actually taken in that dimension, (θ'+_i − θ'−_i), not 2 c_k Δ_i.
- "A certain fraction of L": an eighth, and again at every further eighth, until something better
  is found; then a and c return to what they were. τ_a = τ_c = 1.5: the paper states no numbers.
- With constants far from the paper's, c_k may decay to nothing, and a and c may grow beyond all
  numbers. A perturbation that is lost in the rounding of θ' measures nothing and leaves nothing to
  divide by: none is smaller than the least c that is allowed. The growth ends at 10^100.
- C needs a known bandwidth; without one that condition is not used.
- A failed probe counts as 0 bit/s: the search moves away from settings that do not work.
- The answer is the best setting measured, with its own parameters, not the last point.

The unit of the throughputs and the escape from a place where nothing gets better are left to the
subclasses.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.domain.events import StopGauge
from advisor.domain.measurement import Outcome
from advisor.domain.quantities import format_rate
from advisor.domain.space import Setting, Space
from advisor.domain.traits import MethodTraits, ProbeLabel
from advisor.methods.api import Constant, Knowledge
from advisor.methods.searching import generator_state, set_generator, usable_bps

_LOWER: Final = 1.0
_UPPER: Final = 25.0
_LEAST_C: Final = 0.001
"""As below, of the constant."""
_MOST_GROWTH: Final = 1e100
_Sign = Literal["y+", "y−", "y*"]
Array: TypeAlias = NDArray[np.float64]
"""A point or a step of the search: a number for each parameter, on its scale."""

PERTURBATION_CONSTANTS: Final = (
    Constant(name="a", default=15.0, lower=0.001, upper=1e6, meaning="gain of the step"),
    Constant(name="c", default=5.5, lower=0.001, upper=24, meaning="size of the perturbation"),
    Constant(name="A", default=0.0, lower=0, upper=1e4, meaning="stability of early steps"),
    Constant(name="alpha", default=0.602, lower=0.001, upper=10, meaning="decay of the step"),
    Constant(name="gamma", default=0.101, lower=0.001, upper=10, meaning="decay of perturbation"),
    Constant(name="C", default=0.85, lower=0.01, upper=1, meaning="performance gain ratio to stop"),
    Constant(
        name="L",
        default=20,
        lower=1,
        upper=10000,
        meaning="iterations in a row without a better result to stop",
        integer=True,
    ),
    Constant(
        name="N", default=40, lower=1, upper=10000, meaning="maximum iterations", integer=True
    ),
    Constant(name="tau_a", default=1.5, lower=1, upper=100, meaning="growth of a when impeded"),
    Constant(name="tau_c", default=1.5, lower=1, upper=100, meaning="growth of c when impeded"),
    Constant(
        name="escape", default=0.125, lower=0.001, upper=1, meaning="share of L before a and c grow"
    ),
)
"""The constants of simultaneous perturbation, by Spall's letters, and when it stops."""


class Perturbation(ABC):
    """One search. See the module's text for the algorithm."""

    range: Final = (_LOWER, _UPPER)

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        self._space = space
        self._names = [p.name for p in space.parameters]
        self._rng = rng
        self._bandwidth_bps = knowledge.bandwidth_bps
        self._k = constants
        self._iteration = 0
        self._impeded = 0
        self._growths = 0
        self._improved = False
        self._theta = rng.uniform(_LOWER, _UPPER, size=space.dimensions)
        self._best: tuple[Setting, float] | None = None
        self._stop_reason: str | None = None
        self._move_reason: str | None = None
        self._results: dict[str, float] = {}
        self._sign: _Sign = "y+"
        self._perturb()

    @abstractmethod
    def _scaled(self, bps: float) -> float:
        """A throughput in the unit of the gradient."""

    @abstractmethod
    def _distances(self, c_k: float, grown: float) -> Array:
        """How far θ'+ and θ'− are from θ' in each dimension.

        `grown`: the factor by which c is enlarged while the search is impeded, else 1.
        """

    @abstractmethod
    def _bounded(self, step: Array) -> Array:
        """The step to take of the one that equation 1 gives."""

    @property
    def iteration(self) -> int:
        """The number of completed iterations."""
        return self._iteration

    @property
    def label(self) -> str:
        """y+, y− or y*: the purpose of the setting last asked."""
        return self._sign

    @property
    def stop_reason(self) -> str | None:
        """Why the search is over; None while it continues."""
        return self._stop_reason

    @property
    def move_reason(self) -> str | None:
        """Why θ moved at the last `tell`, None when it did not."""
        return self._move_reason

    @property
    def gauges(self) -> list[StopGauge]:
        """N, L, and C if the bandwidth is known."""
        done = StopGauge(
            name="N", value=self._iteration, limit=self._k["N"], meaning="iterations done"
        )
        impeded = StopGauge(
            name="L",
            value=self._impeded,
            limit=self._k["L"] + 1,
            meaning="iterations in a row without a better result",
        )
        if not self._bandwidth_bps:
            return [done, impeded]
        reached = StopGauge(
            name="C",
            value=self._best[1] / self._bandwidth_bps if self._best else 0.0,
            limit=self._k["C"],
            meaning="share of the path's bandwidth reached",
        )
        return [done, impeded, reached]

    def best(self) -> tuple[Setting, float] | None:
        """The best setting measured and its throughput in bit/s."""
        return self._best

    def recommended(self) -> tuple[Setting, float] | None:
        """The best."""
        return self._best

    def ask(self) -> Setting | None:
        """The next setting: at y+, at y−, then at the point after the step."""
        if self._stop_reason is not None:
            return None
        point = {"y+": self._plus, "y−": self._minus, "y*": self._theta}[self._sign]
        fractions = (point - _LOWER) / (_UPPER - _LOWER)
        return self._space.setting_at(dict(zip(self._names, fractions.tolist(), strict=True)))

    def tell(self, setting: Setting, outcome: Outcome) -> None:
        """Take the throughput of the setting last asked."""
        self._move_reason = None
        bps = usable_bps(outcome)
        self._results[self._sign] = bps
        if bps > 0 and (self._best is None or bps > self._best[1]):
            self._best = (setting, bps)
            self._improved = True
        if self._sign == "y+":
            self._sign = "y−"
        elif self._sign == "y−":
            self._step()
            self._sign = "y*"
        else:
            self._finish_iteration()
        self._check_gain_ratio(bps)

    def move_to(self, space: Space) -> None:
        """θ' stays; it is mapped to the new bounds."""
        self._space = space

    def _perturb(self) -> None:
        """Draw Δ_k and compute θ'+ and θ'− for the new iteration."""
        c_k = max(_LEAST_C, self._k["c"] / (self._iteration + 1) ** self._k["gamma"])
        delta = self._rng.choice((-1.0, 1.0), size=self._space.dimensions)
        away = delta * self._distances(c_k, self._grown("tau_c"))
        self._plus = np.clip(self._theta + away, _LOWER, _UPPER)
        self._minus = np.clip(self._theta - away, _LOWER, _UPPER)

    def _grown(self, name: Literal["tau_a", "tau_c"]) -> float:
        """The factor by which a or c is enlarged now."""
        tau = self._k[name]
        most = math.inf if tau == 1 else math.log(_MOST_GROWTH) / math.log(tau)
        return tau**self._growths if self._growths < most else _MOST_GROWTH

    def _step(self) -> None:
        """Equation 1: from θ'_k to θ'_{k+1}, and why."""
        a = self._k["a"] * self._grown("tau_a")
        a_k = a / (self._k["A"] + self._iteration + 1) ** self._k["alpha"]
        rise = self._scaled(self._results["y+"]) - self._scaled(self._results["y−"])
        gradient = rise / (self._plus - self._minus)
        before = self._theta
        self._theta = np.clip(before + self._bounded(a_k * gradient), _LOWER, _UPPER)
        moves = ", ".join(
            f"{name} {'up' if change > 0 else 'down'} {abs(change):.1f}"
            for name, change in zip(self._names, (self._theta - before).tolist(), strict=True)
            if abs(change) >= 0.05
        )
        self._move_reason = (
            f"y+ {format_rate(self._results['y+'])} against y− {format_rate(self._results['y−'])}: "
            + (f"{moves} on the scale of 1 to 25" if moves else "step too small to matter")
        )

    def _finish_iteration(self) -> None:
        self._iteration += 1
        self._impeded = 0 if self._improved else self._impeded + 1
        self._improved = False
        if self._impeded > self._k["L"]:
            self._stop_reason = f"no better result in {self._impeded} iterations in a row (L)"
        elif self._iteration >= self._k["N"]:
            self._stop_reason = f"{self._iteration} iterations done (N)"
        self._growths = int(self._impeded / max(1.0, self._k["escape"] * self._k["L"]))
        self._results = {}
        self._sign = "y+"
        self._perturb()

    def _check_gain_ratio(self, bps: float) -> None:
        wanted = self._k["C"]
        if self._stop_reason or not self._bandwidth_bps or bps < wanted * self._bandwidth_bps:
            return
        ratio = bps / self._bandwidth_bps
        self._stop_reason = f"{ratio:.0%} of the path's bandwidth reached, limit {wanted:.0%} (C)"

    def state(self) -> dict[str, Any]:
        """All that is needed to resume, as plain JSON values."""
        return {
            "iteration": self._iteration,
            "impeded": self._impeded,
            "growths": self._growths,
            "improved": self._improved,
            "theta": self._theta.tolist(),
            "plus": self._plus.tolist(),
            "minus": self._minus.tolist(),
            "sign": self._sign,
            "results": dict(self._results),
            "best": list(self._best) if self._best else None,
            "stop_reason": self._stop_reason,
            "generator": generator_state(self._rng),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from the value of `state`."""
        self._iteration = int(state["iteration"])
        self._impeded = int(state["impeded"])
        self._growths = int(state["growths"])
        self._improved = bool(state["improved"])
        self._theta = np.array(state["theta"], dtype=float)
        self._plus = np.array(state["plus"], dtype=float)
        self._minus = np.array(state["minus"], dtype=float)
        self._sign = state["sign"]
        self._results = dict(state["results"])
        best = state["best"]
        self._best = (dict(best[0]), float(best[1])) if best else None
        self._stop_reason = state["stop_reason"]
        self._move_reason = None
        set_generator(self._rng, state["generator"])


PERTURBATION_TRAITS: Final = MethodTraits(
    probe_labels=(
        ProbeLabel(
            name="y+", full="▲", hollow="△", meaning="a step from the search's present point"
        ),
        ProbeLabel(name="y−", full="▼", hollow="▽", meaning="the same step in the other direction"),
        ProbeLabel(
            name="y*", full="★", hollow="☆", meaning="the search's new point after both steps"
        ),
    ),
)
"""How charts mark the probes of an iteration."""
