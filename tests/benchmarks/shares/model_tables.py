"""The tables of models in docs/benchmarks-shares.md. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from advisor.domain.quantities import format_duration
from advisor.models.shares.estimating import RECENT_S
from advisor.models.shares.features import Form, Load
from advisor.models.shares.forecast import DEFAULT, Modelling
from advisor.report.share_models import formula
from tests.benchmarks.markdown import filled, percent, table_text
from tests.benchmarks.shares import paper
from tests.benchmarks.shares.crossing import ABLATION, OURS, PAIRS, Samples, cross_errors, fitted
from tests.benchmarks.shares.summary import Errors, errors_of

ERRORS_HEAD = ("mean", "median", "below 15 %", "below 10 %", "errors")
_LINEAR_LOADS = tuple((Form.LINEAR, load) for load in (Load.EL1, Load.EL2, Load.EL3))
_LOG_LOADS = tuple((Form.LOG, load) for load in (Load.EL1, Load.EL2, Load.EL3))


def section(title: str, text: str, *tables_: str) -> str:
    return "\n\n".join([f"## {title}", filled(text), *tables_])


def beside(here: float | None, there: float) -> str:
    """A figure of this bench, and the paper's in brackets."""
    return "–" if here is None else f"{100 * here:.1f} ({100 * there:.1f})"


def error_cells(errors: Errors | None) -> list[str]:
    if errors is None:
        return ["–"] * len(ERRORS_HEAD)
    shares = (errors.mean, errors.median, errors.below_15, errors.below_10)
    return [*(percent(share) for share in shares), f"{errors.count}" if errors.count else "–"]


def tested(trained: Samples, test: Samples) -> str:
    errors = {pair: cross_errors(trained, test, pair) for pair in PAIRS}
    rows = [
        [
            name.capitalize(),
            *(
                beside(fmean(errors[pair][name]), there)
                for pair, there in zip(PAIRS, paper.TESTED[name], strict=True)
            ),
        ]
        for name in paper.DESTINATIONS
        if name in errors[PAIRS[0]]
    ]
    head = ["", *(f"{pair.load}, {pair.estimate}" for pair in PAIRS)]
    overall = [[pair_words(pair), *error_cells(_all(errors[pair]))] for pair in PAIRS]
    overall += [
        [f"{pair_words(pair)}: ours", *error_cells(_all(cross_errors(trained, test, pair)))]
        for pair in OURS
    ]
    overall.append(["the paper, log, EL1, RTEC: plans", *error_cells(paper.OVERALL)])
    text = (
        "Log models fitted to the training, tested with later measurements: the mean error in "
        "percent by destination, and the paper's in brackets (table III). PT uses the external "
        "load of the previous epoch, RT the mean of the last "
        f"{format_duration(RECENT_S)}, RTEC the same without the model's own errors. The second "
        "table is over all destinations and includes FT, which tracks the load by a filter and is "
        "the default of `advisor share plan`; the paper's figures there are those of its ratio and "
        "factoring experiments."
    )
    return section(
        "New data", text, table_text(head, rows), table_text(["", *ERRORS_HEAD], overall)
    )


def pair_words(pair: Modelling) -> str:
    return f"{pair.words}, {pair.estimate}"


def _all(errors: dict[str, list[float]]) -> Errors | None:
    return errors_of([one for some in errors.values() for one in some])


def ablation(trained: Samples, test: Samples) -> str:
    found = [(one, _all(cross_errors(trained, test, one))) for one in ABLATION]
    full = found[0][1]
    rows = []
    for one, errors in found:
        gain = paper.GAINS.get((one.form, one.load), "–")
        is_full = one == DEFAULT
        name = one.words if one.load is Load.NONE else pair_words(one)
        better = "–" if is_full or not full or not errors else _less(full, errors)
        rows.append([name, *error_cells(errors), better, gain])
    text = (
        "The same test, with features left out. The paper's full model uses RTEC, and has a mean "
        f"error of {percent(paper.FULL_MODEL)}."
    )
    head = ["", *ERRORS_HEAD, "the full model is better by", "in the paper"]
    return section("The effect of each feature", text, table_text(head, rows))


def _less(full: Errors, other: Errors) -> str:
    if full.mean is None or not other.mean:
        return "–"
    return percent(1 - full.mean / other.mean)


def fitted_models(trained: Samples) -> str:
    plain = [fitted(trained, form, Load.NONE) for form in (Form.LINEAR, Form.LOG)]
    loaded = [fitted(trained, form, load) for form, load in (*_LINEAR_LOADS, *_LOG_LOADS)]
    names = [name for name in paper.DESTINATIONS if name in trained]
    without = [
        [
            name.capitalize(),
            *_all_beside(
                [
                    error
                    for models in plain
                    for error in (models[name].training_error, models[name].validation_error)
                ],
                paper.WITHOUT_LOAD[name],
            ),
        ]
        for name in names
    ]
    within = [
        [
            name.capitalize(),
            *_all_beside(
                [models[name].validation_error for models in loaded], paper.WITH_LOAD[name]
            ),
        ]
        for name in names
    ]
    text = (
        "Errors in percent, the paper's in brackets; three of five samples train a model, two "
        "validate it. The first table is without external load (table I), the second has the "
        "validation errors with it (table II), where the load of a sample is estimated from the "
        "sample itself."
    )
    head = ["", "linear, training", "validation", "log, training", "validation"]
    loads = ["", *(f"{form}, {load}" for form, load in (*_LINEAR_LOADS, *_LOG_LOADS))]
    return section("Models", text, table_text(head, without), table_text(loads, within))


def _all_beside(here: Iterable[float], there: Iterable[float]) -> list[str]:
    return [beside(one, other) for one, other in zip(here, there, strict=True)]


def formulas(trained: Samples) -> str:
    models = fitted(trained, DEFAULT.form, DEFAULT.load)
    rows = [
        [name.capitalize(), f"`{formula(models[name])}`", f"`{paper.FORMULAS[name]}`"]
        for name in paper.DESTINATIONS
        if name in models
    ]
    text = (
        "DT in Mbit/s as a function of DC, concurrent files to the destination, and SC, concurrent "
        "files to all destinations (table IV). The paper's paths are about 20 times as fast: only "
        "the exponents can be compared."
    )
    return section("Models as formulas", text, table_text(["", "here", "paper"], rows))
