"""The throughput expected of one destination now: its model and the recent external load.

The paper does not give a prediction interval. Here it is that of Student's t for the logarithm of
observed over predicted: the scale is the root mean square of the samples that were held out when
the model was fitted, and their number the degrees of freedom. A quantile of the ratios themselves
is too narrow after a short training: of five, the largest is often exceeded by new ones.
"""

import copy
import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

import msgspec

from advisor.domain.shares import Served, Streams
from advisor.models.comparison import student
from advisor.models.shares.estimating import LoadEstimation, corrections_of, load_now
from advisor.models.shares.features import Form, Load
from advisor.models.shares.fitting import ShareModel, complete, held_back, validate


class Modelling(msgspec.Struct, frozen=True):
    """The form of the model, its external load, and the estimator of the present load.

    The default is the form and load that did best in the paper's experiments (section V), and our
    own estimator.
    """

    form: Form = Form.LOG
    load: Load = Load.EL1
    estimate: LoadEstimation = LoadEstimation.FT

    @property
    def words(self) -> str:
        """The name of the model, as in the paper."""
        return f"{self.form} with {self.load}"


DEFAULT: Final = Modelling()

MIDDLE_S: Final = 45.0
"""What is forecast lasts 90 s, as the paper's transfers do: under the load in the middle of it."""

_TRIED: Final = 100
_LEAST_SCATTER: Final = 0.01


class Forecast:
    """The forecast for one destination, fitted to its samples. Raises TooFew.

    `error`: the mean relative error of the predictions on the held-out samples. Unlike the model's
    own errors, these predictions did not use the actual load. `scatter`: the root mean square of
    the logarithms of observed over predicted, of the same. `recent`: the samples that give the
    load at `now_s` (Unix time), by default all; only those within the estimator's time window
    count. `parallelism`: the streams of each file, to all destinations, that it is for; None for
    those of most samples.
    """

    def __init__(
        self,
        samples: Sequence[Served],
        now_s: float,
        modelling: Modelling = DEFAULT,
        recent: Sequence[Served] | None = None,
        parallelism: int | None = None,
    ) -> None:
        self.samples = tuple(samples)
        validated = validate(samples, modelling.form, modelling.load)
        self.model = complete(validated, samples)
        self._streams = Streams(parallelism, parallelism) if parallelism else self.model.streams
        self._estimate = modelling.estimate
        self._recent = self.samples if recent is None else tuple(recent)
        self._now_s = now_s
        self._ceiling_bps = math.inf
        self._corrections = corrections_of(self.model, samples)
        self._loads: dict[float, float] = {}
        factors = list(self._tried(validated))
        self.error = fmean(abs(1 / factor - 1) for factor in factors)
        squares = fmean(math.log(factor) ** 2 for factor in factors)
        self.scatter = max(_LEAST_SCATTER, math.sqrt(squares))
        self._held_out = len(factors)

    def __call__(self, concurrency: float, source_concurrency: float) -> float:
        """In bit/s, with this DC and SC."""
        return self.with_streams(concurrency, source_concurrency, self._streams)

    def with_streams(
        self, concurrency: float, source_concurrency: float, streams: Streams | None
    ) -> float:
        """The same where a destination's streams are not those of the others."""
        load = self._load(concurrency)
        rate_bps = self.model.predict_bps(concurrency, source_concurrency, load, streams)
        return min(self._ceiling_bps, rate_bps)

    def at(self, now_s: float, recent: Sequence[Served]) -> "Forecast":
        """The same models at another time, `recent` giving the load then."""
        other = copy.copy(self)
        other._now_s, other._recent, other._loads = now_s, tuple(recent), {}
        return other

    def below(self, ceiling_bps: float) -> "Forecast":
        """The same, for a path that carries no more than this, in bit/s."""
        other = copy.copy(self)
        other._ceiling_bps = ceiling_bps
        return other

    def interval_bps(self, concurrency: float, source_concurrency: float) -> tuple[float, float]:
        """The 90 % prediction interval, which ends where the path carries no more."""
        expected_bps = self(concurrency, source_concurrency)
        spread = math.exp(student(self._held_out) * self.scatter)
        return expected_bps / spread, min(self._ceiling_bps, expected_bps * spread)

    def _tried(self, validated: ShareModel) -> Iterator[float]:
        """Observed over predicted for held-out samples, load estimated from earlier ones."""
        corrections = corrections_of(validated, self.samples)
        for one in held_back(self.samples)[-_TRIED:]:
            before = [other for other in self.samples if other.when_s < one.when_s]
            load = load_now(
                validated, self._estimate, before, one.when_s, one.concurrency, corrections
            )
            yield one.throughput_bps / validated.predict_sample_bps(one, load)

    def _load(self, concurrency: float) -> float:
        # Only the estimate from the previous transfer depends on it (PT).
        key = concurrency if self._estimate is LoadEstimation.PT else 0.0
        if key not in self._loads:
            self._loads[key] = load_now(
                self.model,
                self._estimate,
                self._recent,
                self._now_s + MIDDLE_S,
                concurrency,
                self._corrections,
            )
        return self._loads[key]
