"""Models of what each of several destinations gets, fitted to made-up truth."""

import math
from itertools import product

import numpy as np
import pytest

from advisor.domain.shares import Served
from advisor.models.shares.features import (
    Form,
    Load,
    least_weights,
    load_feature,
    load_of,
    load_value,
)
from advisor.models.shares.fitting import TooFew, fit, usual_streams, validate

LEVELS = [(dc, sc) for dc, sc in product(range(1, 6), range(5, 15, 3)) if dc <= sc]


def served(dc: int, sc: int, mbps: float, when_s: float = 0.0) -> Served:
    return Served(concurrency=dc, source_concurrency=sc, throughput_bps=mbps * 1e6, when_s=when_s)


def by_log(dc: int, sc: int) -> float:
    """As Blacklight in table IV, without a load."""
    return float(dc**0.868 * 2**9.996 / sc**0.283)


def by_line(dc: int, sc: int) -> float:
    return 900 + 150 * dc - 20 * sc


def loaded(repeats: int, spread: float) -> list[Served]:
    """Blacklight's, at all levels several times, under a load that differs from time to time."""
    rng = np.random.default_rng(7)
    return [
        served(dc, sc, by_log(dc, sc) * float(rng.lognormal(0.0, spread)), when_s=float(number))
        for number in range(repeats)
        for dc, sc in LEVELS
    ]


def test_the_log_models_exponents_are_found() -> None:
    model = fit([served(*levels, by_log(*levels)) for levels in LEVELS], Form.LOG)
    assert model.weights == pytest.approx([-0.283, 0.868], abs=1e-3)
    assert model.intercept == pytest.approx(9.996, abs=0.01)
    assert model.validation_error < 1e-3
    assert model.predict_bps(7, 20) == pytest.approx(by_log(7, 20) * 1e6, rel=0.01)


def test_the_linear_models_too() -> None:
    model = fit([served(*levels, by_line(*levels)) for levels in LEVELS], Form.LINEAR)
    assert model.weights == pytest.approx([150, -20], rel=0.01)
    assert model.predict_bps(7, 20) == pytest.approx(by_line(7, 20) * 1e6, rel=0.01)


def test_the_form_of_the_truth_fits_best() -> None:
    samples = loaded(5, 0.02)
    errors = {form: fit(samples, form).validation_error for form in Form}
    assert min(errors, key=errors.__getitem__) is Form.LOG
    blind = [errors.pop(form) for form in (Form.MEAN, Form.SC_ONLY)]
    assert min(blind) > 2 * max(errors.values())


@pytest.mark.parametrize("load", [Load.EL1, Load.EL2, Load.EL3])
def test_a_load_that_is_known_explains_what_is_left(load: Load) -> None:
    samples = loaded(6, 0.3)
    without, with_load = fit(samples, Form.LOG), fit(samples, Form.LOG, load)
    assert with_load.validation_error < without.validation_error
    assert with_load.load_weight > 0 or load is Load.EL2


def test_solved_for_the_load_it_gives_the_throughput_back() -> None:
    for form, load in product((Form.LOG, Form.LINEAR), (Load.EL1, Load.EL2, Load.EL3)):
        model = fit(loaded(4, 0.3), form, load)
        feature = model.load_feature_of(served(3, 11, 700))
        assert model.predict_bps(3, 11, feature) == pytest.approx(700e6)


def test_too_few_are_refused_in_a_sentence() -> None:
    with pytest.raises(TooFew, match=r"2 measurements .* 5 are needed"):
        fit([served(1, 2, 100), served(2, 3, 100)], Form.LOG)


def test_one_level_alone_gives_a_model_that_knows_no_other() -> None:
    model = fit([served(2, 4, 100 + n) for n in range(6)], Form.LOG, Load.EL1)
    assert model.predict_bps(2, 4) == pytest.approx(102e6, rel=0.05)


def test_loads_are_those_of_the_equations() -> None:
    assert load_of(Load.EL1, 80, [80, 100, 120]) == -20
    assert load_of(Load.EL2, 80, [80, 100, 120]) == -40
    assert load_of(Load.EL3, 80, [80, 100, 160]) == 0.5


@pytest.mark.parametrize(
    ("load", "value", "feature"),
    [
        (Load.EL1, 8.0, 3.0),
        (Load.EL1, -8.0, -3.0),
        (Load.EL1, 0.0, 0.0),
        (Load.EL2, -1.0, 0.0),
        (Load.EL3, 0.25, -2.0),
    ],
)
def test_a_load_is_adjusted_as_in_equation_11(load: Load, value: float, feature: float) -> None:
    assert load_feature(Form.LOG, load, value) == feature
    if feature:
        assert load_value(Form.LOG, load, feature) == pytest.approx(value)
    assert load_feature(Form.LINEAR, load, value) == value


@pytest.mark.parametrize(
    ("dc", "sc", "bps"), [(0, 3, 1e9), (4, 3, 1e9), (1, 3, 0.0), (1, 3, float("inf"))]
)
def test_what_nobody_got_is_refused(dc: int, sc: int, bps: float) -> None:
    with pytest.raises(ValueError, match=r"must be at least 1|leave out"):
        Served(concurrency=dc, source_concurrency=sc, throughput_bps=bps)


@pytest.mark.parametrize("form", [Form.LOG, Form.LINEAR, Form.RATIO, Form.DC_ONLY])
def test_chance_never_says_that_a_file_more_costs_throughput(form: Form) -> None:
    """What was measured says so: a plan that believed it would give fewer files for more."""
    samples = [served(dc, 8, 100 - 10 * dc, float(dc)) for dc in range(1, 8)]
    model = fit(samples, form)
    assert model.predict_bps(4, 8) >= model.predict_bps(2, 8)


def test_streams_are_a_variable_where_enough_samples_vary_them() -> None:
    few, enough = ([streamed(1 + n % 4, 2 + n % 5, 1 + n % 3) for n in range(k)] for k in (14, 15))
    assert usual_streams(few, Form.LOG) is None
    assert usual_streams(enough, Form.LOG) is not None
    assert usual_streams(enough, Form.LINEAR) is None
    uniform = [streamed(1 + n % 4, 2 + n % 5, 2, others=2) for n in range(30)]
    assert usual_streams(uniform, Form.LOG) is None
    unknown = [served(1 + n % 4, 6, 100) for n in range(30)]
    assert usual_streams(unknown, Form.LOG) is None


def streamed(files: int, other_files: int, streams: int, others: int = 4) -> Served:
    return Served(
        concurrency=files,
        source_concurrency=files + other_files,
        throughput_bps=1e8,
        parallelism=streams,
        source_streams=files * streams + other_files * others,
    )


def test_it_is_fitted_to_all_samples_and_says_the_errors_of_the_validation() -> None:
    off: dict[str, list[float]] = {"validated": [], "fitted": []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        samples = [
            served(dc, sc, by_log(dc, sc) * float(rng.lognormal(0.0, 0.2)), when_s=float(number))
            for number, (dc, sc) in enumerate(rng.permutation(LEVELS)[:10].tolist())
        ]
        validated, model = validate(samples, Form.LOG), fit(samples, Form.LOG)
        assert model.training_error == validated.training_error
        assert model.validation_error == validated.validation_error
        for name, one in (("validated", validated), ("fitted", model)):
            off[name] += [abs(math.log(one.predict_bps(*at) / 1e6 / by_log(*at))) for at in LEVELS]
    assert np.mean(off["fitted"]) < 0.9 * np.mean(off["validated"])


@pytest.mark.parametrize("number", [6, 11, 25])
def test_a_concurrency_that_was_always_the_same_says_nothing_of_more_files(number: int) -> None:
    rng = np.random.default_rng(number)
    samples = [
        served(3, int(sc), by_log(3, int(sc)) * float(rng.lognormal(0.0, 0.1)), when_s=float(at))
        for at, sc in enumerate(rng.integers(15, 19, number))
    ]
    model = fit(samples, Form.LOG)
    assert model.weights[1] == pytest.approx(least_weights(Form.LOG)[1], abs=1e-6)
    assert model.slope_error == math.inf
