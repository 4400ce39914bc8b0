"""octave: a probabilistic search along octaves, with what other paths taught it as a prior.

The logarithm of throughput is modelled over u, the parameters' base-2 logarithms in units of five
octaves, as a level of its own for this path + φ(u)·w + a smooth remainder + a deviation per
setting. With t = 2u - 1, φ holds every t_i, (3t_i² - 1)/2 and t_i·t_j: rise, plateau or peak, and
how parameters stand in for each other. (Legendre's polynomials, because over 1 to 32 they are
orthogonal: what is known of one coefficient says next to nothing of another, and a table of means
and deviations tells all.) w is normal; its mean depends on the files' size. Everything is normal,
so that the posterior is exact (Rasmussen and Williams, "Gaussian Processes for Machine Learning",
2006, equations 2.23, 2.24 and 2.41).

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

import math
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.api import (
    AVAILABLE,
    FLOW_NAMES,
    Availability,
    Constant,
    Knowledge,
    Measurement,
    Outcome,
    Parameter,
    PastSurface,
    Setting,
    Space,
    StopGauge,
    format_rate,
    setting_key,
    settled_constants,
    usable_bps,
)

_Array: TypeAlias = NDArray[np.float64]


_OCTAVES: Final = 5.0
_TYPICAL_FILE_BYTES: Final = 2.0**25

# (mean for files of 32 MiB, change for files 32 times as large, standard deviation between paths)
# of each coefficient of log rate. Least squares on φ over the 216 cell medians of 14 conditions
# (4 public GridFTP records, RTT 40 and 44 ms, files of 3 MB to 3 GB); mean and change by regression
# on log file size with one condition's weight for "size does not matter". Leaving out any one
# record moves no mean by more than 0.05.
_Row: TypeAlias = tuple[float, float, float]
PRIOR: Final[Mapping[tuple[str, ...], _Row]] = {
    ("concurrency",): (0.60, -0.05, 0.09),
    ("parallelism",): (0.10, 0.15, 0.05),
    ("pipelining",): (-0.05, -0.08, 0.04),
    ("concurrency", "concurrency"): (0.08, -0.01, 0.06),
    ("concurrency", "parallelism"): (0.04, 0.08, 0.06),
    ("concurrency", "pipelining"): (-0.08, 0.01, 0.06),
    ("parallelism", "parallelism"): (-0.05, -0.06, 0.04),
    ("parallelism", "pipelining"): (-0.03, -0.04, 0.03),
    ("pipelining", "pipelining"): (-0.03, 0.01, 0.03),
}
# For any other parameter: a rise that levels off at the upper bound, and little certainty.
_RISE: Final[_Row] = (0.3, 0.0, 0.3)
_BEND: Final[_Row] = (-0.1, 0.0, 0.15)
_MIXED: Final[_Row] = (0.0, 0.0, 0.07)

_REMAINDER: Final = 0.1  # standard deviation of the smooth remainder, where the table speaks
_WIDE_REMAINDER: Final = 0.2  # where it does not
# The chance, beforehand, that a path is unlike all those known. Such a path is met with the
# general rows instead of the table; which kind it is, the probes tell (by marginal likelihood).
_STRANGE: Final = 0.3
_REACH: Final = 1.5 / _OCTAVES  # over which the remainder changes
_OWN: Final = 0.09  # of a setting's own deviation from its neighbours
_LEVEL: Final = 1.0  # of the path's level, once the first probe has given it
_FLOOR: Final = 2.5  # nats below the best
_SURPRISE: Final = 3.0
_AGED: Final = 16.0
_NOISE_WEIGHT: Final = 4.0  # repeats that the assumed noise is worth
_SAME_PAIR: Final = 0.25  # variance between two times on one pair, over that between pairs
_MOST_CANDIDATES: Final = 500
_MOST_WEIGHED: Final = 72
_QUANTILES: Final = np.linspace(-2.6, 2.6, 14)
_WEIGHTS: Final = np.exp(-0.5 * _QUANTILES**2) / np.exp(-0.5 * _QUANTILES**2).sum()

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
)


def _levels(parameter: Parameter, fine: bool) -> list[int]:
    """Values an octave (half an octave where fine) apart, both bounds among them."""
    octaves = math.log2(parameter.upper / parameter.lower)
    if octaves == 0:
        return [parameter.lower]
    count = parameter.unit == ""
    per_octave = 2 if fine and count else 1
    steps = range(math.floor(octaves * per_octave) + 1)
    anchor, sign = (parameter.lower, 1) if count else (parameter.upper, -1)
    raw = [anchor * 2.0 ** (sign * step / per_octave) for step in steps][:12]
    q = parameter.quantum
    values = {min(parameter.upper, max(parameter.lower, round(v / q) * q)) for v in raw}
    return sorted(values | {parameter.lower, parameter.upper})


def _candidates(space: Space) -> list[Setting]:
    levels = [_levels(p, fine=space.dimensions <= 2) for p in space.parameters]
    names = [p.name for p in space.parameters]
    total = math.prod(len(one) for one in levels)
    if total <= _MOST_CANDIDATES:
        points = list(product(*levels))
    else:
        # The same sample every time: a search that is resumed finds its candidates again.
        spread = np.random.default_rng(0).choice(total, _MOST_CANDIDATES - 1, replace=False)
        picks = np.union1d(spread, [total - 1])
        shape = tuple(len(one) for one in levels)
        indices = np.stack(np.unravel_index(picks, shape), axis=1).tolist()
        points = [tuple(one[i] for one, i in zip(levels, row, strict=True)) for row in indices]
    return [dict(zip(names, point, strict=True)) | space.fixed for point in points]


class Surface:
    """φ of a space, and what is believed of w: normal with `mean` and `covariance`."""

    def __init__(self, space: Space, file_bytes: float | None, shipped: bool) -> None:
        self._parameters = space.parameters
        names = [p.name for p in space.parameters]
        self.size = math.log2((file_bytes or _TYPICAL_FILE_BYTES) / _TYPICAL_FILE_BYTES) / _OCTAVES
        terms = [(n,) for n in names] + list(combinations_with_replacement(names, 2))
        rows = [_row(term, shipped) for term in terms]
        self.known = shipped and all((name,) in PRIOR for name in names)
        d = len(terms)
        self._between = np.diag([row[2] ** 2 for row in rows])
        means = np.array([row[0] for row in rows] + [row[1] for row in rows])
        # The shipped means stand on four records; without them nearly anything goes.
        doubt = (0.5 if self.known else 1.5) ** 2
        precision = np.linalg.inv(np.kron(np.eye(2), self._between) * doubt)
        self._precision: _Array = precision
        self._shift: _Array = precision @ means
        self._d = d
        self._own: list[tuple[_Array, _Array]] = []

    def places(self, settings: Sequence[Mapping[str, Any]]) -> _Array:
        """u of settings, one row each."""
        columns = [
            [_place(p, float(setting[p.name])) for setting in settings] for p in self._parameters
        ]
        return np.array(columns, dtype=float).T.reshape(len(settings), len(self._parameters))

    def features(self, u: _Array) -> _Array:
        """φ(u), one row each."""
        t = 2 * u.T - 1
        second = [
            1.5 * t[i] ** 2 - 0.5 if i == j else t[i] * t[j]
            for i, j in combinations_with_replacement(range(len(t)), 2)
        ]
        columns: _Array = np.stack([*t, *second], axis=1).astype(np.float64)
        return columns

    def learn(self, past: PastSurface, noise: float) -> None:
        """Take in what another condition showed; its level is not used, only its shape."""
        usable = [
            (s, math.log(rate), n)
            for s, rate, n in zip(past.settings, past.rates_bps, past.repeats, strict=True)
            if rate > 0 and all(_is_near(p, s.get(p.name)) for p in self._parameters)
        ]
        if len(usable) < 2:
            return
        phi = self.features(self.places([s for s, _, _ in usable]))
        y = np.array([value for _, value, _ in usable])
        y = np.maximum(y, y.max() - _FLOOR)
        weight = 1 / (_REMAINDER**2 + _OWN**2 + noise**2 / np.array([n for _, _, n in usable]))
        phi, y = phi - np.average(phi, 0, weight), y - np.average(y, None, weight)
        information = phi.T @ (phi * weight[:, None])
        shift = phi.T @ (y * weight)
        # w of that condition is w of this one give or take what conditions differ by.
        share = _SAME_PAIR if past.same_pair else 1.0
        blur = np.linalg.inv(np.eye(self._d) + share * information @ self._between)
        if past.same_pair:
            self._own.append((blur @ information, blur @ shift))
            return
        size = math.log2((past.file_bytes or _TYPICAL_FILE_BYTES) / _TYPICAL_FILE_BYTES) / _OCTAVES
        self._precision += np.kron([[1, size], [size, size**2]], blur @ information)
        self._shift += np.kron([1, size], blur @ shift)

    def belief(self) -> tuple[_Array, _Array]:
        """Mean and covariance of this condition's w."""
        at = np.kron(np.array([[1.0, self.size]]), np.eye(self._d))
        shared = np.linalg.inv(self._precision)
        mean, covariance = at @ shared @ self._shift, at @ shared @ at.T + self._between
        for information, shift in self._own:
            precision = np.linalg.inv(covariance)
            covariance = np.linalg.inv(precision + information)
            mean = covariance @ (precision @ mean + shift)
        return mean, (covariance + covariance.T) / 2


def _row(term: tuple[str, ...], shipped: bool) -> _Row:
    general = _RISE if len(term) == 1 else _BEND if term[0] == term[1] else _MIXED
    if not shipped:
        return general
    return PRIOR.get(term) or PRIOR.get(term[::-1]) or general


def _is_near(parameter: Parameter, value: object) -> bool:
    """Within an octave of the bounds; 0, the kernel's own sizing, is not."""
    return isinstance(value, int | float) and parameter.lower / 2 <= value <= parameter.upper * 2


def _place(parameter: Parameter, value: float) -> float:
    if parameter.unit == "":
        return math.log2(max(value, 1.0)) / _OCTAVES
    if parameter.upper == parameter.lower:
        return 0.0
    # A size has no scale that holds on every path: the space's own bounds are it.
    return math.log2(max(value, 1.0) / parameter.lower) / math.log2(
        parameter.upper / parameter.lower
    )


def _smooth(a: _Array, b: _Array) -> _Array:
    squares = ((a[:, None, :] - b[None, :, :]) / _REACH) ** 2
    covariance: _Array = np.exp(-0.5 * squares.sum(axis=2))
    return covariance


class Octave:
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        self._k = constants
        self._bandwidth_bps = knowledge.bandwidth_bps
        file_bytes, pasts = _history(knowledge)
        shipped = constants["shipped"] != 0
        surfaces = [Surface(space, file_bytes, table) for table in (shipped, False)]
        for past in pasts:
            surfaces[0].learn(past, constants["noise"])
        self._flow_names = [p.name for p in space.parameters if p.name in FLOW_NAMES]
        self._other_names = [p.name for p in space.parameters if p.name not in FLOW_NAMES]
        # The straight lines through the box: fewer cannot tell a rise from a fall everywhere.
        self._least_probes = space.dimensions + 2
        self._settings = _candidates(space)
        self._index = {setting_key(s): i for i, s in enumerate(self._settings)}
        octaves = np.array([self._octaves(s) for s in self._settings])
        self._price = constants["octave_cost"] * octaves
        self._surfaces = surfaces
        self._lay_out([surface.belief() for surface in surfaces])
        self._told: list[tuple[int, float]] = []  # candidate, bit/s; 0 for a failure
        self._seconds: list[float] = []
        self._changed_at = 0
        self._surprises: list[float] = []
        # The posterior, with how much was known when it was worked out.
        self._weighed: tuple[tuple[int, int], tuple[_Array, _Array]] | None = None
        self._best: tuple[Setting, float] | None = None
        self._stop_reason: str | None = None
        self._move_reason: str | None = None
        self._label = "prior"
        self._next = int((self._prior_mean - self._price).argmax())

    def _octaves(self, setting: Setting) -> float:
        flows = sum(math.log2(float(setting[name])) for name in self._flow_names)
        return flows + 0.1 * sum(math.log2(float(setting[name])) for name in self._other_names)

    def _lay_out(self, beliefs: list[tuple[_Array, _Array]]) -> None:
        """Prior mean and covariance of every candidate, but for the level, from those of w."""
        self._beliefs = beliefs
        self._priors: list[tuple[_Array, _Array]] = []
        for surface, (mean, covariance) in zip(self._surfaces, beliefs, strict=True):
            u = surface.places(self._settings)
            phi = surface.features(u)
            phi = phi - phi.mean(axis=0)
            remainder = _REMAINDER if surface.known else _WIDE_REMAINDER
            self._priors.append(
                (
                    phi @ mean,
                    _LEVEL**2
                    + phi @ covariance @ phi.T
                    + remainder**2 * _smooth(u, u)
                    + _OWN**2 * np.eye(len(u)),
                )
            )
        usual, strange = self._priors[0][0], self._priors[1][0]
        self._prior_mean: _Array = (1 - _STRANGE) * usual + _STRANGE * strange

    @property
    def iteration(self) -> int:
        """How many probes it was told."""
        return len(self._told)

    @property
    def label(self) -> str:
        """prior, explore or repeat: what the setting last asked is for."""
        return self._label

    @property
    def stop_reason(self) -> str | None:
        """Why the search is over, None while it goes on."""
        return self._stop_reason

    @property
    def move_reason(self) -> str | None:
        """What the last probe changed and what the next is for."""
        return self._move_reason

    @property
    def gauges(self) -> list[StopGauge]:
        """N and C; the expected gain falls by fits and starts and fills no gauge."""
        done = StopGauge(name="N", value=len(self._told), limit=self._k["N"], meaning="probes done")
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
        """The best probe's share of the path's bandwidth; 0 where that is not known."""
        if not self._bandwidth_bps or self._best is None:
            return 0.0
        return self._best[1] / self._bandwidth_bps

    def best(self) -> tuple[Setting, float] | None:
        """The best setting measured and its throughput in bit/s."""
        return self._best

    def recommended(self) -> tuple[Setting, float] | None:
        """The measured setting with the best posterior mean less its price; None before any.

        The rate is the posterior mean in bit/s, not the sample.
        """
        measured = sorted({i for i, bps in self._told if bps > 0})
        if not measured:
            return None
        mean, _ = self._posterior()
        worth = mean - self._price
        winner = max(measured, key=lambda i: float(worth[i]))
        return self._settings[winner], float(np.exp(mean[winner]))

    def ask(self) -> Setting | None:
        """The setting whose measurement is expected to gain most per second."""
        return None if self._stop_reason else dict(self._settings[self._next])

    def tell(self, setting: Setting, outcome: Outcome) -> None:
        """Take what a setting gave."""
        bps = usable_bps(outcome)
        index = self._number(setting)
        self._watch_for_change(index, bps)
        self._told.append((index, bps))
        self._seconds.append(outcome.elapsed_s)
        if bps > 0 and (self._best is None or bps > self._best[1]):
            self._best = (dict(setting), bps)
        self._decide()

    def _number(self, setting: Setting) -> int:
        """The candidate that a setting is, or is nearest to."""
        known = self._index.get(setting_key(setting))
        if known is not None:
            return known
        places = self._surfaces[0].places([setting, *self._settings])
        return int(((places[1:] - places[0]) ** 2).sum(axis=1).argmin())

    def _watch_for_change(self, index: int, bps: float) -> None:
        if len(self._told) - self._changed_at < 2 or bps <= 0:
            return
        mean, covariance = self._posterior()
        spread = math.sqrt(covariance[index, index] + self._noise() ** 2)
        surprise = (math.log(bps) - float(mean[index])) / spread
        self._surprises = [*self._surprises[-1:], surprise]
        if len(self._surprises) == 2 and all(
            abs(s) > _SURPRISE and s * surprise > 0 for s in self._surprises
        ):
            self._changed_at = len(self._told) - 1
            self._surprises = []

    def _noise(self) -> float:
        """Spread of one probe: what is assumed, until this search's own repeats outweigh it."""
        groups: dict[int, list[float]] = {}
        for index, bps in self._told[self._changed_at :]:
            if bps > 0:
                groups.setdefault(index, []).append(math.log(bps))
        squares = sum(_squares(group) for group in groups.values() if len(group) > 1)
        freedom = sum(len(g) - 1 for g in groups.values())
        assumed = self._k["noise"]
        return math.sqrt((_NOISE_WEIGHT * assumed**2 + squares) / (_NOISE_WEIGHT + freedom))

    def _posterior(self) -> tuple[_Array, _Array]:
        """Mean and covariance of log bit/s of every candidate, over both kinds of path."""
        known = (len(self._told), self._changed_at)
        if self._weighed is None or self._weighed[0] != known:
            self._weighed = (known, self._weigh())
        return self._weighed[1]

    def _weigh(self) -> tuple[_Array, _Array]:
        rates = [bps for _, bps in self._told]
        top = math.log(max(rates)) if any(rates) else 0.0
        y = np.array([max(math.log(bps), top - _FLOOR) if bps else top - _FLOOR for bps in rates])
        at = [index for index, _ in self._told]
        noise = np.full(len(at), self._noise() ** 2)
        noise[: self._changed_at] *= _AGED
        good = [k for k, bps in enumerate(rates) if bps] or list(range(len(rates)))
        evidence, means, covariances = [], [], []
        for (prior_mean, prior), chance in zip(self._priors, (1 - _STRANGE, _STRANGE), strict=True):
            level = float(np.mean(y[good] - prior_mean[at][good]))
            off = y - prior_mean[at] - level
            spread = prior[np.ix_(at, at)] + np.diag(noise)
            gain = np.linalg.solve(spread, prior[at]).T
            fit = off @ np.linalg.solve(spread, off) + np.linalg.slogdet(spread)[1]
            evidence.append(math.log(chance) - 0.5 * float(fit))
            means.append(prior_mean + level + gain @ off)
            covariances.append(prior - gain @ prior[at])
        weights = np.exp(np.array(evidence) - max(evidence))
        weights /= weights.sum()
        mean: _Array = weights[0] * means[0] + weights[1] * means[1]
        apart = means[1] - means[0]
        covariance: _Array = (
            weights[0] * covariances[0]
            + weights[1] * covariances[1]
            + weights[0] * weights[1] * np.outer(apart, apart)
        )
        return mean, covariance

    def _decide(self) -> None:
        mean, covariance = self._posterior()
        worth = mean - self._price
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        shortlist = np.argsort(-(worth + 1.5 * spread), kind="stable")[:_MOST_WEIGHED]
        gains = self._gains(worth[shortlist], covariance[np.ix_(shortlist, shortlist)])
        per_second = gains / self._expected_seconds(mean[shortlist])
        pick = int(per_second.argmax())
        self._next = int(shortlist[pick])
        known = {index for index, _ in self._told}
        self._label = "repeat" if self._next in known else "explore"
        gain = float(gains[pick])
        leader = self._settings[int(worth.argmax())]
        self._move_reason = (
            f"best so far, by the model: {_words(leader)} at "
            f"{format_rate(math.exp(mean[worth.argmax()]))}; "
            f"{'repeating' if self._label == 'repeat' else 'trying'} "
            f"{_words(self._settings[self._next])} should gain {gain:.1%}"
        )
        if len(self._told) >= self._k["N"]:
            self._stop_reason = f"{len(self._told)} probes done (N)"
        elif self._reached() >= self._k["C"]:
            reached, wanted = self._reached(), self._k["C"]
            self._stop_reason = (
                f"{reached:.0%} of the path's bandwidth reached, {wanted:.0%} asked (C)"
            )
        elif len(self._told) < self._least_probes:
            return
        elif float(gains.max()) < self._k["least_gain"] and int(worth.argmax()) in known:
            self._stop_reason = (
                f"no probe is expected to gain {self._k['least_gain']:.1%} any more (least_gain)"
            )
        elif float(gains.max()) < self._k["least_gain"]:
            # Advice stands on a measurement: the model's choice is measured before it is given.
            self._next, self._label = int(worth.argmax()), "confirm"

    def _gains(self, worth: _Array, covariance: _Array) -> _Array:
        """The knowledge gradient of each setting, in log rate."""
        effect = covariance / np.sqrt(np.diag(covariance) + self._noise() ** 2)[None, :]
        after = (worth[:, None, None] + effect[:, :, None] * _QUANTILES).max(axis=0)
        gains: _Array = after @ _WEIGHTS - worth.max()
        return gains

    def _expected_seconds(self, mean: _Array) -> _Array:
        """Seconds a probe takes, up to a factor: the same for all, or so many bytes at its rate.

        Whichever of the two has varied less over the probes so far.
        """
        both = zip(self._seconds, self._told, strict=True)
        done = [(s, bps) for s, (_, bps) in both if bps and s]
        seconds = np.log([s for s, _ in done])
        volumes = np.log([s * bps for s, bps in done])
        if len(done) < 3 or seconds.std() <= volumes.std():
            return np.ones_like(mean)
        # A setting that the model thinks hopeless is not made cheaper or dearer without end.
        expected: _Array = np.exp(-np.maximum(mean - mean.max(), -1.0))
        return expected

    def state(self) -> dict[str, Any]:
        """All that is needed to go on, as plain JSON values."""
        return {
            # What history taught is kept: history may have grown when a search is resumed.
            "beliefs": [[mean.tolist(), cov.tolist()] for mean, cov in self._beliefs],
            # Settings, not their numbers: what was seen elsewhere meanwhile may move the box.
            "told": [[self._settings[index], bps] for index, bps in self._told],
            "seconds": list(self._seconds),
            "changed_at": self._changed_at,
            "surprises": list(self._surprises),
            "best": list(self._best) if self._best else None,
            "next": self._settings[self._next],
            "label": self._label,
            "stop_reason": self._stop_reason,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave."""
        self._lay_out([(np.array(mean), np.array(cov)) for mean, cov in state["beliefs"]])
        self._told = [(self._number(setting), float(bps)) for setting, bps in state["told"]]
        self._weighed = None
        self._seconds = [float(s) for s in state["seconds"]]
        self._changed_at = int(state["changed_at"])
        self._surprises = [float(s) for s in state["surprises"]]
        best = state["best"]
        self._best = (dict(best[0]), float(best[1])) if best else None
        self._next = self._number(state["next"])
        self._label = str(state["label"])
        self._stop_reason = state["stop_reason"]
        self._move_reason = None


def _squares(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def _words(setting: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items())


def _history(knowledge: Knowledge) -> tuple[float | None, list[PastSurface]]:
    """File size and surfaces, with this pair's own stored probes as one surface per session."""
    sessions: dict[str, list[tuple[Setting, float]]] = {}
    for record in knowledge.past:
        if isinstance(record.result, Measurement):
            one = sessions.setdefault(record.session, [])
            one.append((record.setting, record.result.throughput_bps))
    own = [
        PastSurface(
            settings=[s for s, _ in probes],
            rates_bps=[bps for _, bps in probes],
            repeats=[1] * len(probes),
            same_pair=True,
        )
        for probes in sessions.values()
    ]
    return knowledge.mean_file_bytes, [*knowledge.surfaces, *own]


class OctavePlugin:
    """How octave is found and made."""

    name = "octave"
    summary = "Bayesian search along octaves with a learnt prior and the knowledge gradient"
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
    ) -> Octave:
        """A new search; it draws nothing at random.

        Raises ValueError for a constant that is not octave's.
        """
        return Octave(space, knowledge, settled_constants(self.name, self.constants, constants))


plugin = OctavePlugin()
