"""Models of the training's samples, tested with those of the test (section IV.D). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias

from advisor.domain.shares import Served
from advisor.models.shares.estimating import LoadEstimation, corrections_of, load_now
from advisor.models.shares.features import Form, Load
from advisor.models.shares.fitting import LEAST_SAMPLES, ShareModel, fit
from advisor.models.shares.forecast import DEFAULT, Modelling
from tests.benchmarks.shares.results import Run, samples_in, samples_of
from tests.benchmarks.shares.summary import planned_epochs

PAIRS: Final = tuple(
    Modelling(Form.LOG, load, estimate)
    for load in (Load.EL1, Load.EL3)
    for estimate in (LoadEstimation.PT, LoadEstimation.RT, LoadEstimation.RTEC)
)
"""In the order of table III."""

OURS: Final = tuple(Modelling(Form.LOG, load, LoadEstimation.FT) for load in (Load.EL1, Load.EL3))
"""The same models, with the load followed by a filter."""

ABLATION: Final = (
    DEFAULT,
    Modelling(estimate=LoadEstimation.RTEC),
    *(Modelling(form, Load.NONE) for form in (Form.LOG, Form.DC_ONLY, Form.SC_ONLY, Form.MEAN)),
)

Samples: TypeAlias = Mapping[str, Sequence[Served]]
"""By destination, in the order of time."""


def cross_errors(trained: Samples, test: Samples, modelling: Modelling) -> dict[str, list[float]]:
    """By destination |predicted - observed| / observed of each sample of the test.

    Models know the training alone; the load is estimated from everything before the sample.
    """
    return {
        name: _errors(trained[name], some, modelling)
        for name, some in test.items()
        if name in trained
    }


def planned_errors(
    runs: Sequence[Run], planned: Iterable[Run], modelling: Modelling
) -> list[float]:
    """The same of the first epoch with what each plan planned.

    `runs`: all that there were; a model knows those before the plan alone, and has to have enough
    of them.
    """
    every = samples_of(runs)
    errors = []
    for first in (epoch for run in planned for epoch in planned_epochs(run)):
        known = {
            name: before
            for name, some in every.items()
            if len(before := [one for one in some if one.when_s < first.when_s]) >= LEAST_SAMPLES
        }
        asked = {name: [one] for name, one in samples_in(first).items()}
        errors += [
            error for some in cross_errors(known, asked, modelling).values() for error in some
        ]
    return errors


def _errors(trained: Sequence[Served], test: Sequence[Served], modelling: Modelling) -> list[float]:
    # As `Forecast` does it, with one fit for all samples of the test.
    model = _fitted(tuple(trained), modelling.form, modelling.load)
    corrections = corrections_of(model, trained)
    errors = []
    for one in test:
        before = [other for other in (*trained, *test) if other.when_s < one.when_s]
        load = load_now(model, modelling.estimate, before, one.when_s, one.concurrency, corrections)
        predicted_bps = model.predict_sample_bps(one, load)
        errors.append(abs(predicted_bps / one.throughput_bps - 1))
    return errors


def fitted(trained: Samples, form: Form, load: Load) -> dict[str, ShareModel]:
    """By destination the model, with its training and validation error."""
    return {name: _fitted(tuple(some), form, load) for name, some in trained.items()}


@cache
def _fitted(samples: tuple[Served, ...], form: Form, load: Load) -> ShareModel:
    """The same model is asked for in several tables."""
    return fit(samples, form, load)
