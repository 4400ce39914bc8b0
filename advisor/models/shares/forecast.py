"""What one destination is expected to get at present: its model, and the external load of late.

How far off a prediction may be the paper does not say: nine of ten of the observations that were
held back when the model was fitted were within that factor of what was predicted for them.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

import msgspec
import numpy as np

from advisor.domain.shares import Served
from advisor.models.shares.estimating import Estimate, corrections_of, load_now
from advisor.models.shares.features import Form, Load
from advisor.models.shares.fitting import fit, held_back


class Modelling(msgspec.Struct, frozen=True):
    """Which form of model, which external load in it, and how that of the present is had.

    By default the form and load that did best in the paper's experiments (section V), and our own
    way to the present load.
    """

    form: Form = Form.LOG
    load: Load = Load.EL1
    estimate: Estimate = Estimate.FT

    @property
    def words(self) -> str:
        """The model's, as the paper calls it."""
        return f"{self.form} with {self.load}"


DEFAULT: Final = Modelling()

_TRIED: Final = 100
_SPREAD: Final = 0.9
_NINE_OF_TEN: Final = 1.645
"""Standard deviations to either side, between which nine of ten of a normal distribution are."""

_LEAST_SCATTER: Final = 0.01


class Forecast:
    """Of one destination, fitted to what it got before. Raises TooFew.

    `error`: how far predictions were off on average where they were tried, a share. Unlike the
    model's own errors it is of predictions that were not told the load that there was. `recent`:
    what the load at `now_s` (Unix time) is had from, by default the samples; of it only what is of
    the last half hour.
    """

    def __init__(
        self,
        samples: Sequence[Served],
        now_s: float,
        modelling: Modelling = DEFAULT,
        recent: Sequence[Served] | None = None,
    ) -> None:
        self.samples = tuple(samples)
        self.model = fit(samples, modelling.form, modelling.load)
        self._estimate = modelling.estimate
        self._recent = self.samples if recent is None else tuple(recent)
        self._now_s = now_s
        self._corrections = corrections_of(self.model, samples)
        self._loads: dict[float, float] = {}
        factors = list(self._tried())
        self.error = fmean(abs(1 / factor - 1) for factor in factors)
        self._spread = float(np.quantile([max(one, 1 / one) for one in factors], _SPREAD))

    def __call__(self, concurrency: float, source_concurrency: float) -> float:
        """In bit/s, with this DC and SC; parts of one stand for some of a file's streams."""
        load = self._load(concurrency)
        return self.model.predict_bps(concurrency, source_concurrency, load)

    def interval_bps(self, concurrency: float, source_concurrency: float) -> tuple[float, float]:
        """Where that is expected nine times out of ten."""
        expected_bps = self(concurrency, source_concurrency)
        return expected_bps / self._spread, expected_bps * self._spread

    @property
    def scatter(self) -> float:
        """Standard deviation of the logarithm of what was observed over what was predicted."""
        return max(_LEAST_SCATTER, math.log(self._spread) / _NINE_OF_TEN)

    def _tried(self) -> Iterator[float]:
        """Observed over predicted, of what was held back, with the load of what was before it."""
        for one in held_back(self.samples)[-_TRIED:]:
            before = [other for other in self.samples if other.when_s < one.when_s]
            load = load_now(
                self.model,
                self._estimate,
                before,
                one.when_s,
                one.concurrency,
                self._corrections,
            )
            predicted_bps = self.model.predict_bps(one.concurrency, one.source_concurrency, load)
            yield one.throughput_bps / predicted_bps

    def _load(self, concurrency: float) -> float:
        # Only that of the previous transfer depends on it (PT).
        key = concurrency if self._estimate is Estimate.PT else 0.0
        if key not in self._loads:
            self._loads[key] = load_now(
                self.model,
                self._estimate,
                self._recent,
                self._now_s,
                concurrency,
                self._corrections,
            )
        return self._loads[key]
