"""bayes's search: which candidate to probe next, when to stop, what to recommend."""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from advisor.api.method import Expected, Knowledge, relative_error, usable_bps
from advisor.api.values import (
    Outcome,
    Setting,
    Space,
    StopGauge,
    format_rate,
    setting_key,
    setting_of,
)

from .belief import Belief
from .candidates import candidates
from .past import past_surfaces, peak_of_transfers
from .surface import Array, Surface

_MOST_WEIGHED: Final = 72
_QUANTILES: Final = np.linspace(-2.6, 2.6, 14)
_WEIGHTS: Final = np.exp(-0.5 * _QUANTILES**2) / np.exp(-0.5 * _QUANTILES**2).sum()


class Bayes:
    """One search. See the package's text."""

    def __init__(
        self,
        space: Space,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        self._k = constants
        self._knowledge = knowledge
        self._bandwidth_bps = knowledge.bandwidth_bps
        self._seconds: list[float] = []
        self._learned = 0
        self._best: tuple[Setting, float] | None = None
        self._stop_reason: str | None = None
        self._move_reason: str | None = None
        self._lay_out(space)
        self._label = "prior"
        self._next = int((self._belief.prior_mean - self._price).argmax())
        if constants["history"] and (peak := peak_of_transfers(space, knowledge)):
            self._label = "history"
            self._next = self._number(setting_of(space, peak.levels))

    def _lay_out(self, space: Space) -> None:
        """The candidates of a space, and what is believed of them before any probe."""
        constants, knowledge = self._k, self._knowledge
        shipped = constants["shipped"] != 0
        file_bytes = knowledge.mean_file_bytes
        usual, strange = (Surface(space, file_bytes, table) for table in (shipped, False))
        for past in past_surfaces(knowledge):
            usual.learn(past, constants["noise"])
        flow_names = knowledge.flow_names
        self._flow_names = [p.name for p in space.parameters if p.name in flow_names]
        self._others = [p for p in space.parameters if p.name not in flow_names]
        # The straight lines through the box: fewer cannot distinguish a rise from a fall.
        self._least_probes = space.dimensions + 2
        self._settings = candidates(space)
        self._index = {setting_key(s): i for i, s in enumerate(self._settings)}
        self._flows: Array = np.array(
            [math.prod(float(s[name]) for name in self._flow_names) for s in self._settings]
        )
        octaves = np.array([self._octaves(s) for s in self._settings])
        self._price = constants["octave_cost"] * octaves
        self._surface = usual
        self._belief = Belief(self._settings, (usual, strange), constants["noise"])

    def expect(self, expected: Expected) -> None:
        """Start from the rates that a model expects of the candidates, not from the prior."""
        self._belief.expect(expected(self._settings))
        if self._belief.probed:
            # It stopped for what it believed before.
            self._stop_reason = None
            self._decide()
        elif self._label != "history":
            self._next = int((self._belief.prior_mean - self._price).argmax())

    def move_to(self, space: Space) -> None:
        """Search here from now on: each probe counts for the nearest setting of the new grid."""
        state = self.state()
        self._lay_out(space)
        self.restore(state)

    def _octaves(self, setting: Setting) -> float:
        flows = sum(math.log2(float(setting[name])) for name in self._flow_names)
        # What is left to the kernel costs no more than the least.
        return flows + 0.1 * sum(math.log2(float(setting[p.name]) or p.lower) for p in self._others)

    @property
    def iteration(self) -> int:
        """The number of probes so far."""
        return len(self._belief.probed) - self._learned

    @property
    def label(self) -> str:
        """prior, history, explore, repeat or confirm: the purpose of the setting last asked."""
        return self._label

    @property
    def stop_reason(self) -> str | None:
        """Why the search is over; None while it continues."""
        return self._stop_reason

    @property
    def move_reason(self) -> str | None:
        """What the last probe changed and what the next is for."""
        return self._move_reason

    @property
    def gauges(self) -> list[StopGauge]:
        """N and C; the expected gain falls too irregularly for a gauge."""
        done = StopGauge(name="N", value=self.iteration, limit=self._k["N"], meaning="probes done")
        if not self._bandwidth_bps:
            return [done]
        reached = StopGauge(
            name="C",
            value=self._reached(),
            limit=self._k["C"],
            meaning="share of the path's bandwidth reached",
        )
        return [done, reached]

    def _reached(self) -> float:
        """The best probe's share of the path's bandwidth; 0 when that is unknown."""
        if not self._bandwidth_bps or self._best is None:
            return 0.0
        return self._best[1] / self._bandwidth_bps

    def best(self) -> tuple[Setting, float] | None:
        """The best setting measured and its throughput in bit/s."""
        return self._best

    def recommended(self) -> tuple[Setting, float] | None:
        """The measured setting with the best posterior mean less its cost; None before any.

        The rate is the posterior mean in bit/s, not the sample.
        """
        measured = sorted({i for i, bps in self._belief.probed if bps > 0})
        if not measured:
            return None
        mean, _ = self._belief.posterior()
        worth = mean - self._price
        winner = max(measured, key=lambda i: float(worth[i]))
        return self._settings[winner], float(np.exp(mean[winner]))

    @property
    def wants_repeat(self) -> bool:
        """Where its model expects the most of a second probe."""
        return self._label == "repeat"

    def ask(self) -> Setting | None:
        """The setting whose measurement has the greatest expected gain per second."""
        return None if self._stop_reason else dict(self._settings[self._next])

    def tell(self, setting: Setting, outcome: Outcome) -> None:
        """Take the outcome of a setting."""
        bps = usable_bps(outcome)
        index = self._number(setting)
        self._belief.tell(index, bps, relative_error(outcome))
        self._seconds.append(outcome.elapsed_s)
        if bps > 0 and (self._best is None or bps > self._best[1]):
            self._best = (dict(setting), bps)
        self._decide()

    def learn(self, setting: Setting, outcome: Outcome) -> None:
        """Take the outcome of a setting that it did not ask for; N does not count it."""
        self._learned += 1
        self.tell(setting, outcome)

    def expected_gain(self, best_bps: float, least: float) -> float:
        """The greatest expected excess over a rate of what one probe may show, as a log rate."""
        if self._stop_reason:
            return 0.0
        if not self._belief.probed:
            return math.inf
        mean, covariance = self._belief.posterior()
        variance = np.maximum(np.diag(covariance), 1e-12)
        effect = variance / np.sqrt(variance + self._belief.noise() ** 2)
        seen = (mean - math.log(best_bps) - least)[:, None] + effect[:, None] * _QUANTILES
        return float((np.maximum(seen, 0.0) @ _WEIGHTS).max())

    def _number(self, setting: Setting) -> int:
        """The candidate that equals a setting or is nearest to it."""
        known = self._index.get(setting_key(setting))
        if known is not None:
            return known
        places = self._surface.places([setting, *self._settings])
        return int(((places[1:] - places[0]) ** 2).sum(axis=1).argmin())

    def _decide(self) -> None:
        mean, covariance = self._belief.posterior()
        worth = mean - self._price
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        shortlist = np.argsort(-(worth + 1.5 * spread), kind="stable")[:_MOST_WEIGHED]
        gains = self._gains(worth[shortlist], covariance[np.ix_(shortlist, shortlist)])
        per_second = gains / self._expected_seconds(mean[shortlist], shortlist)
        pick = int(per_second.argmax())
        self._next = int(shortlist[pick])
        known = {index for index, _ in self._belief.probed}
        self._label = "repeat" if self._next in known else "explore"
        gain = float(gains[pick])
        leader = self._settings[int(worth.argmax())]
        self._move_reason = (
            f"best so far, by the model: {_words(leader)} at "
            f"{format_rate(math.exp(mean[worth.argmax()]))}; "
            f"{'repeating' if self._label == 'repeat' else 'trying'} "
            f"{_words(self._settings[self._next])} should gain {gain:.1%}"
        )
        if self.iteration >= self._k["N"]:
            self._stop_reason = f"{self.iteration} probes done (N)"
        elif self._reached() >= self._k["C"]:
            reached, wanted = self._reached(), self._k["C"]
            self._stop_reason = (
                f"{reached:.0%} of the path's bandwidth reached, {wanted:.0%} asked (C)"
            )
        elif len(self._belief.probed) < self._least_probes:
            return
        elif float(gains.max()) < self._k["least_gain"] and int(worth.argmax()) in known:
            self._stop_reason = (
                f"no probe is expected to gain another {self._k['least_gain']:.1%} (least_gain)"
            )
        elif float(gains.max()) < self._k["least_gain"]:
            # Advice rests on a measurement: the model's choice is measured before it is given.
            self._next, self._label = int(worth.argmax()), "confirm"

    def _gains(self, worth: Array, covariance: Array) -> Array:
        """The knowledge gradient of each setting, in log rate."""
        effect = covariance / np.sqrt(np.diag(covariance) + self._belief.noise() ** 2)[None, :]
        after = (worth[:, None, None] + effect[:, :, None] * _QUANTILES).max(axis=0)
        gains: Array = after @ _WEIGHTS - worth.max()
        return gains

    def _expected_seconds(self, mean: Array, shortlist: NDArray[np.intp]) -> Array:
        """Relative duration of a probe: that of its flows, or that of a fixed number of bytes.

        Whichever of seconds and bytes has varied less over the probes so far.
        """
        both = zip(self._seconds, self._belief.probed, strict=True)
        done = [(s, bps) for s, (_, bps) in both if bps and s]
        seconds = np.log([s for s, _ in done])
        volumes = np.log([s * bps for s, bps in done])
        if len(done) < 3 or seconds.std() <= volumes.std():
            return self._seconds_of_flows()[shortlist]
        # Bounded, so that a setting with a very low expected rate does not distort the costs.
        expected: Array = np.exp(-np.maximum(mean - mean.max(), -1.0))
        return expected

    def _seconds_of_flows(self) -> Array:
        """How long a probe of every candidate takes: flows are set up one after the other."""
        both = zip(self._seconds, self._belief.probed, strict=True)
        done = [(self._flows[index], s) for s, (index, _) in both if s > 0]
        if len({count for count, _ in done}) < 2:
            return np.ones_like(self._flows)
        flows, seconds = (np.array(one) for one in zip(*done, strict=True))
        apart = flows - flows.mean()
        each_s = max(0.0, float(apart @ seconds) / float(apart @ apart))
        expected: Array = seconds.mean() + each_s * (self._flows - flows.mean())
        # A probe of fewer flows than ever takes at least half of the shortest so far.
        least_s = float(seconds.min()) / 2
        bounded: Array = np.maximum(expected, least_s)
        return bounded

    def state(self) -> dict[str, Any]:
        """All that is needed to resume, as plain JSON values."""
        return {
            **self._belief.state(),
            "seconds": list(self._seconds),
            "learned": self._learned,
            "best": list(self._best) if self._best else None,
            "next": self._settings[self._next],
            "label": self._label,
            "stop_reason": self._stop_reason,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from the value of `state`."""
        probed = [(self._number(setting), float(bps)) for setting, bps in state["told"]]
        self._belief.restore(state, probed)
        self._seconds = [float(s) for s in state["seconds"]]
        # Version 0.2 and before learned from nothing else.
        self._learned = int(state.get("learned", 0))
        best = state["best"]
        self._best = (dict(best[0]), float(best[1])) if best else None
        self._next = self._number(state["next"])
        self._label = str(state["label"])
        self._stop_reason = state["stop_reason"]
        self._move_reason = None


def _words(setting: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items())
