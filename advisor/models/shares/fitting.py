"""Fits a destination's model to its samples: regularised least squares (section IV.B).

The paper leaves open, and this module decides:

- Which three fifths are for training: in order of time the first, third and fifth of each five.
  These and the others give the regulariser and the errors. With that regulariser the model is then
  fitted to all: two fifths more to learn from matter most where the training was short. The
  paper's does without them.
- The regularisers: 47 from 0.000001 to 100, evenly spaced on a logarithmic scale. The smallest
  changes nothing but what the samples do not determine, as the weight of a concurrency that was
  always the same: with 0 that would be arbitrary. The intercept is not regularised.
- The weight of DC has a lower bound: see `least_weights`.
- Streams are features where they varied: with one value for all there is nothing to fit.
- The error is the mean of |predicted - observed| / observed.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.shares import Served, Streams
from advisor.models.shares.features import (
    MEGA,
    Form,
    Load,
    least_weights,
    load_feature,
    load_of,
    mbps_of,
    row_of,
    target_of,
)

LEAST_SAMPLES: Final = 5
_REGULARISERS: Final = tuple(np.logspace(-6, 2, 47).tolist())
_TRAINS: Final = (0, 2, 4)
_VARIED: Final = 4
"""The fewest different streams that two exponents are fitted to."""

_LEAST_VARIED: Final = 15
"""The fewest samples that these are fitted to besides: three for each weight."""

_OF_DC: Final = 1
"""The column of the concurrency in the features of LOG."""

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class TooFew(ProblemError, ValueError):
    """There are too few samples to fit a model; the message is one sentence."""

    kind = ProblemKind.NO_DATA


class ShareModel(msgspec.Struct, frozen=True, kw_only=True):
    """The model of one destination's throughput, in bit/s.

    `weights`: of the features; `load_weight`: of the load's feature, 0 without one; `intercept`: of
    the target. `usual_load`: the mean feature of the load in the data. `regulariser`: λ. Errors are
    relative. `streams`: those of most samples, where streams varied and are features; else None.
    `slope_error`: the standard error of the weight of the concurrency, of LOG alone, else 0;
    infinite if the concurrency did not vary.
    """

    form: Form
    load: Load
    weights: list[float]
    load_weight: float
    intercept: float
    usual_load: float
    regulariser: float
    training_error: float
    validation_error: float
    streams: Streams | None = None
    slope_error: float = 0.0

    def predict_bps(
        self,
        concurrency: float,
        source_concurrency: float,
        load: float | None = None,
        streams: Streams | None = None,
    ) -> float:
        """The predicted throughput. `load`: the load's feature, None for the usual one.

        `streams`: None for those of most samples.
        """
        target = self._target(concurrency, source_concurrency, load, streams)
        return mbps_of(self.form, target) * MEGA

    def predict_sample_bps(self, one: Served, load: float | None) -> float:
        """The predicted throughput of what was set for a sample."""
        return self.predict_bps(one.concurrency, one.source_concurrency, load, one.streams)

    def load_feature_of(self, one: Served) -> float:
        """The load's feature that explains a throughput: the model solved for the load."""
        if not self.load_weight:
            return self.usual_load
        without = self._target(one.concurrency, one.source_concurrency, 0.0, one.streams)
        return (target_of(self.form, one.throughput_bps / MEGA) - without) / self.load_weight

    def _target(
        self,
        concurrency: float,
        source_concurrency: float,
        load: float | None,
        streams: Streams | None,
    ) -> float:
        used = (streams or self.streams) if self.streams else None
        row = row_of(self.form, concurrency, source_concurrency, used)
        known = sum(w * x for w, x in zip(self.weights, row, strict=True)) + self.intercept
        return known + self.load_weight * (self.usual_load if load is None else load)


def fit(samples: Sequence[Served], form: Form, load: Load = Load.NONE) -> ShareModel:
    """The validated model, fitted to all samples. Raises TooFew."""
    return complete(validate(samples, form, load), samples)


def complete(validated: ShareModel, samples: Sequence[Served]) -> ShareModel:
    """The same fitted to all samples; its errors are those of the validated one."""
    data = _Data(samples, validated.form, validated.load)
    return msgspec.structs.replace(
        data.model(validated.regulariser, data.all),
        training_error=validated.training_error,
        validation_error=validated.validation_error,
    )


def validate(samples: Sequence[Served], form: Form, load: Load = Load.NONE) -> ShareModel:
    """The model with the smallest sum of training and validation error. Raises TooFew.

    The samples of one destination; the load is derived from those with the same DC and SC, so there
    should be several such. It is fitted to those for training alone.
    """
    if len(samples) < LEAST_SAMPLES:
        raise TooFew(
            f"{len(samples)} measurements of this destination are too few for a model: "
            f"{LEAST_SAMPLES} are needed at least"
        )
    data = _Data(samples, form, load)
    models = [data.model(regulariser, data.for_training) for regulariser in _REGULARISERS]
    return min(models, key=lambda one: one.training_error + one.validation_error)


def usual_streams(samples: Sequence[Served], form: Form) -> Streams | None:
    """The streams of most samples, where they vary and the form can use them; else None."""
    known = [streams for one in samples if (streams := one.streams)]
    if form is not Form.LOG or not len(samples) == len(known) >= _LEAST_VARIED:
        return None
    if len(set(known)) < _VARIED:
        return None
    [(own, _)] = Counter(one.own for one in known).most_common(1)
    return Streams(own, own)


def held_back(samples: Sequence[Served]) -> list[Served]:
    """The validation samples, which `validate` does not fit to, in order of time."""
    ordered = sorted(samples, key=lambda one: one.when_s)
    return [one for number, one in enumerate(ordered) if number % 5 not in _TRAINS]


class _Data:
    """Features and targets, divided for training and validation."""

    def __init__(self, samples: Sequence[Served], form: Form, load: Load) -> None:
        samples = sorted(samples, key=lambda one: one.when_s)
        self._form, self._load = form, load
        self._streams = usual_streams(samples, form)
        self._features = _features(samples, form, load, has_streams=self._streams is not None)
        self._targets = np.array([target_of(form, one.throughput_bps / MEGA) for one in samples])
        self._observed_bps = np.array([one.throughput_bps for one in samples])
        loads = [-np.inf] if load is not Load.NONE else []
        self._least = np.array(
            [*least_weights(form, has_streams=self._streams is not None), *loads]
        )
        self.all = np.ones(len(samples), dtype=np.bool_)
        self.for_training = np.isin(np.arange(len(samples)) % 5, _TRAINS)

    def model(self, regulariser: float, fitted_to: Mask) -> ShareModel:
        weights, intercept = self._solved(regulariser, fitted_to)
        fitted = self._features @ weights + intercept
        predicted_bps = np.array([mbps_of(self._form, one) for one in fitted]) * MEGA
        errors = np.abs(predicted_bps - self._observed_bps) / self._observed_bps
        has_load = self._load is not Load.NONE
        *plain, last = [*weights.tolist()] or [0.0]
        return ShareModel(
            form=self._form,
            load=self._load,
            weights=plain if has_load else weights.tolist(),
            load_weight=last if has_load else 0.0,
            intercept=float(intercept),
            usual_load=float(self._features[:, -1].mean()) if has_load else 0.0,
            regulariser=regulariser,
            training_error=float(errors[self.for_training].mean()),
            validation_error=float(errors[~self.for_training].mean()),
            streams=self._streams,
            slope_error=self._slope_error(fitted, fitted_to),
        )

    def _slope_error(self, fitted: Array, fitted_to: Mask) -> float:
        """By the usual formula of least squares, without the regulariser, which only reduces it."""
        if self._form is not Form.LOG:
            return 0.0
        features = self._features[fitted_to]
        off = (self._targets - fitted)[fitted_to]
        freedom = len(off) - features.shape[1] - 1
        if freedom < 1 or not np.ptp(features[:, _OF_DC]):
            return math.inf
        centred = features - features.mean(axis=0)
        inverse = np.linalg.pinv(centred.T @ centred)
        return float(np.sqrt(off @ off / freedom * inverse[_OF_DC, _OF_DC]))

    def _solved(self, regulariser: float, fitted_to: Mask) -> tuple[Array, float]:
        features, targets = self._features[fitted_to], self._targets[fitted_to]
        if not features.shape[1]:
            return np.zeros(0), float(targets.mean())
        from scipy.optimize import lsq_linear  # Imported late: it takes a while.

        middle, usual = features.mean(axis=0), targets.mean()
        count = features.shape[1]
        # The regulariser as additional equations that require weights of 0.
        found = lsq_linear(
            np.vstack([features - middle, np.sqrt(regulariser) * np.eye(count)]),
            np.concatenate([targets - usual, np.zeros(count)]),
            bounds=(self._least, np.full(count, np.inf)),
            method="bvls",
        )
        weights = np.asarray(found.x, dtype=np.float64)
        return weights, float(usual - middle @ weights)


def _features(samples: Sequence[Served], form: Form, load: Load, *, has_streams: bool) -> Array:
    alike: dict[tuple[int, ...], list[float]] = defaultdict(list)
    for one in samples:
        alike[one.levels].append(one.throughput_bps / MEGA)
    rows = []
    for one in samples:
        streams = one.streams if has_streams else None
        row = row_of(form, one.concurrency, one.source_concurrency, streams)
        if load is not Load.NONE:
            others = alike[one.levels]
            row.append(load_feature(form, load, load_of(load, one.throughput_bps / MEGA, others)))
        rows.append(row)
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1)
