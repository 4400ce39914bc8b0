"""docs/benchmarks-shares.md, from the results alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import TypeAlias

from advisor.domain.quantities import format_duration
from advisor.models.shares.estimating import LoadEstimation
from advisor.transfer.shared.training import MOST_FILES
from tests.benchmarks.markdown import filled, percent, table_text
from tests.benchmarks.shares import paper
from tests.benchmarks.shares.cases import (
    BASE_CONCURRENCY,
    FACTOR,
    HOSTS,
    LOADS,
    LONG,
    LONG_RATIO,
    PARTS,
    RATIO,
    RATIOS,
    REPEAT,
    REPEAT_LOAD,
    REPEATED,
    RTTS_S,
    SOURCE_RATE_BPS,
    STREAMS,
    TEST,
    TRAIN,
    factor_cases,
    fewest_packets,
)
from tests.benchmarks.shares.crossing import (
    OURS,
    PAIRS,
    planned_errors,
)
from tests.benchmarks.shares.model_tables import (
    ERRORS_HEAD,
    ablation,
    error_cells,
    fitted_models,
    formulas,
    pair_words,
    section,
    tested,
)
from tests.benchmarks.shares.results import Loaded, Results, Run, samples_of
from tests.benchmarks.shares.summary import (
    are_within,
    asked_errors_in,
    errors_of,
    feedback_errors,
    first_levels,
    has_changed,
    open_loop_errors,
    over,
    parted,
    prediction_errors,
    repeat_variations,
)
from tests.benchmarks.transfers.cases import CONGESTION
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Late, Machine
from tests.benchmarks.wan.where import where_text

_HALF_HOUR_S = 1800.0
_Of: TypeAlias = Callable[[Run], list[float]]
_FOUR = tuple(pair for pair in PAIRS if pair.estimate in (LoadEstimation.RT, LoadEstimation.RTEC))
_EXPECTED, _ASKED = prediction_errors, open_loop_errors


def write_document(results: Results, page: Path) -> None:
    """Write it. Raises Trouble where there is nothing to say yet."""
    page.write_text(document_text(results))


def document_text(results: Results) -> str:
    """The page. Raises Trouble where there are no results."""
    shown = tables(results)
    parts = ["# Shares of several destinations", _introduction(results), shown, _method(results)]
    where = where_text(results.all(Machine), results.all(Late), "All hosts")
    return "\n\n".join(part for part in [*parts, where] if part) + "\n"


def tables(results: Results) -> str:
    """All tables, as Markdown. Raises Trouble where there are no results."""
    if not any(not run.trouble for run in results.all(Run)):
        raise Trouble(f"{results.file} has no run: measure first, without --document")
    trained, test = (samples_of(results.runs(part)) for part in (TRAIN, TEST))
    parts = [_shares(results), *_cases(results), _repeats(results), _long(results)]
    parts.append(_pairs(results))
    if trained and test:
        parts += [tested(trained, test), ablation(trained, test)]
    if trained:
        parts += [fitted_models(trained), formulas(trained)]
    return "\n\n".join(part for part in [*parts, _troubles(results)] if part)


def _introduction(results: Results) -> str:
    missing = ", ".join(part for part in PARTS if not results.runs(part))
    return filled(
        "`make bench-shares` (`python -m tests.benchmarks.shares`; the figures are "
        f"[benchmarks/{results.file.name}](benchmarks/{results.file.name})). The rates that five "
        "destinations of one source get, compared with the rates that `advisor share plan` expects "
        "and with the requested ones, under constantly varying external load: the experiments of "
        "Kettimuthu et al. (2014), with the paper's figures for comparison. Those were measured on "
        "other machines and faster paths, under the load of production traffic. So only the size "
        "of the errors, and which model has the smaller ones, can be compared."
        + (f" **Not measured yet: the parts {missing}.**" if missing else "")
    )


def _shares(results: Results) -> str:
    ratios, factors = results.runs(RATIO), results.runs(FACTOR)
    every = [*ratios, *factors]
    if not every:
        return ""
    parts = (("ratios", ratios), ("factors", factors), ("all", every))
    rows = [row for name, runs in parts for row in _rows(f"expected, {name}", runs, _EXPECTED)]
    rows += [row for name, runs in parts for row in _rows(f"requested, {name}", runs, _ASKED)]
    rows += _rows("requested, ratios, with feedback", ratios, feedback_errors)
    rows.append(["the paper: all, log with EL1 and RTEC", *error_cells(paper.OVERALL)])
    rows.append(["the paper: factors, the same", *error_cells(paper.FACTORING)])
    rows.append(["the paper: all, its four best pairs", *error_cells(paper.FOUR_PAIRS)])
    text = (
        '"Expected": the difference between a destination\'s measured rate and the rate that the '
        "plan expected at its concurrency, as a share of the measured rate (as for all prediction "
        'errors here). "Requested": the difference between the measured and the requested rate, '
        "as a share of the requested one; destinations held at a concurrency have no requested "
        "rate. Ratios without feedback: the first epoch of each run, which depends on the models "
        "alone, as in the paper. Factors: the epoch after the one that measures the base, against "
        "which the paper's are too; its 83.6 and 65.5 % are 46 and 36 of 55 predictions, which "
        "include those for the destinations whose concurrency stays, so that they compare with "
        '"expected". With feedback: from the second epoch on; the paper has no such '
        f"figures.\n\n{_said(every)}"
    )
    return section("Requested and measured rates", text, table_text(["", *ERRORS_HEAD], rows))


def _said(runs: Sequence[Run]) -> str:
    """What advisor itself reported about its plans."""
    held = [is_within for run in runs for is_within in are_within(run)]
    missed = parted(runs)[1]
    return (
        f"The plan's 90 % interval contains {percent(fmean(held))} of the "
        f"{len(held)} rates of first epochs. For {len(missed)} of {len(runs)} runs advisor "
        "reported before the start that the request cannot be met: they are counted separately."
    )


def _rows(name: str, runs: Sequence[Run], errors: _Of) -> list[list[str]]:
    """Of runs whose request can be met; the others have a separate row."""
    had, missed = parted(runs)
    labelled = ((name, had), (f"{name}, where it cannot be met", missed))
    return [
        [label, *error_cells(found)] for label, some in labelled if (found := over(some, errors))
    ]


def _cases(results: Results) -> list[str]:
    """Each ratio, and each factor, over its runs."""
    ratio_head = [
        "",
        "planned",
        "error, expected",
        "error, requested",
        "with feedback",
        "cannot be met",
    ]
    ratios = [
        [f"{case}", *_case_cells(runs), _mean(runs, feedback_errors), _missed(runs)]
        for case in RATIOS
        if (runs := results.runs(RATIO, case))
    ]
    factors = [
        [case.replace("x", "× "), *_case_cells(runs), _missed(runs)]
        for case in factor_cases()
        if (runs := results.runs(FACTOR, case))
    ]
    names = ":".join(host.capitalize() for host in HOSTS)
    found = [_feedback(results.runs(RATIO))]
    if ratios:
        text = (
            f'{names}. Mean errors over all destinations and runs; "planned" is the concurrency '
            "of each destination, run by run. In the paper's figure 7 (4:5:6:8:9, log with EL1 and "
            "RTEC) the errors of four destinations are below 5 %, that of the fifth is 10.5 %."
        )
        found.append(section("Ratios", text, table_text(ratio_head, ratios)))
    if factors:
        text = (
            f"The rate of one destination times this factor, relative to {BASE_CONCURRENCY} files "
            f"at a time for each; the others are held at {BASE_CONCURRENCY}. The error relative to "
            "the expected rate is over all five."
        )
        head = [*ratio_head[:4], ratio_head[-1]]
        found.append(section("Factors", text, table_text(head, factors)))
    return found


def _feedback(ratios: Sequence[Run]) -> str:
    """Epoch by epoch."""
    longest = max((len(run.seen) for run in ratios), default=0)
    rows = [
        [f"{number + 1}", *error_cells(over(ratios, asked_errors_in(number)))]
        for number in range(longest)
    ]
    if longest < 2:
        return ""
    text = (
        "The error of all destinations relative to the requested rate, over all ratio runs, epoch "
        "by epoch. The first is the plan's, before anything is measured; after each epoch the "
        "models are updated, and the concurrencies change where the data support it: in "
        f"{sum(map(has_changed, ratios))} of {len(ratios)} runs. The external load keeps changing "
        "meanwhile, and the rates of unchanged concurrencies vary as under Repeats."
    )
    return section("Feedback", text, table_text(["epoch", *ERRORS_HEAD], rows))


def _repeats(results: Results) -> str:
    """What the same levels get again and again, each destination by itself."""
    runs = results.runs(REPEAT)
    if not runs:
        return ""
    rows = [
        [host.capitalize(), *(percent(repeat_variations(run)[host]) for run in runs)]
        for host in HOSTS
    ]
    every = [one for run in runs for one in repeat_variations(run).values()]
    text = (
        f"The coefficient of variation of each destination's rate in {len(runs[0].seen)} epochs "
        f"one after the other with {REPEATED[1:]} files at a time to each, under an external load "
        f"of {REPEAT_LOAD} streams all the time: what no model can predict. "
        f"Mean {percent(fmean(every))}, median {percent(median(every))}."
    )
    head = ["", *(f"run {run.number + 1}" for run in runs)]
    return section("Repeats", text, table_text(head, rows))


def _long(results: Results) -> str:
    """The long run, half hour by half hour."""
    runs = results.runs(LONG)
    parts: dict[int, list[float]] = {}
    for run in runs:
        for number, epoch in enumerate(run.seen[1:], start=1):
            part = int((epoch.when_s - run.seen[0].when_s) // _HALF_HOUR_S)
            parts.setdefault(part, []).extend(asked_errors_in(number)(run))
    if not parts:
        return ""
    rows = [[f"{n + 1}", *error_cells(errors_of(some))] for n, some in sorted(parts.items())]
    text = (
        f"{LONG_RATIO} with feedback, {len(runs)} run(s), while the external load changes as in "
        "all parts: the error relative to the requested rate from the second epoch on, by half "
        "hours."
    )
    return section("A long run", text, table_text(["half hour", *ERRORS_HEAD], rows))


def _pairs(results: Results) -> str:
    """Each model with each estimate of the load, on the same plans."""
    runs = [run for run in results.all(Run) if not run.trouble]
    planned = [run for run in runs if run.part in (RATIO, FACTOR)]
    errors = {pair: planned_errors(runs, planned, pair) for pair in (*PAIRS, *OURS)}
    if not any(errors.values()):
        return ""
    rows = [
        [pair_words(pair) + (": ours" if pair in OURS else ""), *error_cells(errors_of(some))]
        for pair, some in errors.items()
    ]
    best = [error for pair in _FOUR for error in errors[pair]]
    rows.append(["those four with RT and RTEC", *error_cells(errors_of(best))])
    rows.append(["the paper: its four best pairs", *error_cells(paper.FOUR_PAIRS)])
    rows.append(["the paper: log with EL1, RTEC", *error_cells(paper.OVERALL)])
    text = (
        "The predictions of each model with each estimate of the present load for the first epochs "
        "of all ratio and factor runs, at the planned concurrencies, from all earlier "
        "measurements. The paper's four best are those with RT and RTEC."
    )
    return section("Each model on all plans", text, table_text(["", *ERRORS_HEAD], rows))


def _case_cells(runs: Sequence[Run]) -> list[str]:
    planned = ", ".join(":".join(str(n) for n in first_levels(run).values()) for run in runs)
    return [planned, _mean(runs, _EXPECTED), _mean(runs, _ASKED)]


def _mean(runs: Sequence[Run], errors: _Of) -> str:
    found = over(runs, errors)
    return percent(found.mean if found else None)


def _missed(runs: Sequence[Run]) -> str:
    return f"{len(parted(runs)[1])} of {len(runs)}"


def _troubles(results: Results) -> str:
    """What failed and was not measured again."""
    lines = []
    for run in results.all(Run):
        good = results.runs(run.part, run.case)
        if run.trouble and not any(one.number == run.number for one in good):
            lines.append(f"- {run.part}, {run.case}: {run.trouble}")
    return "## What failed\n\n" + "\n".join(dict.fromkeys(lines)) if lines else ""


def _method(results: Results) -> str:
    runs = [run for run in results.all(Run) if not run.trouble]
    training = _lengths(run for run in runs if run.part == TRAIN)
    others = _lengths(run for run in runs if run.part != TRAIN)
    steps = {part: sum(len(run.seen) for run in results.runs(part)) for part in (TRAIN, TEST)}
    most = max(run.number for run in runs) + 1
    caps = ", ".join(sorted({str(run.most) for run in runs if run.planned})) or "…"
    lines = [
        f"The lab: `advisor lab up --hosts {','.join(HOSTS)} --source-rate "
        f"{SOURCE_RATE_BPS / 1e6:g}Mbit`. Each destination has its own path; all share the "
        "source's interface, which limits the paper's source too. RTTs are those of the lab's "
        f"paths of these names and 90 ms more, {min(RTTS_S.values()) * 1e3:g} to "
        f"{max(RTTS_S.values()) * 1e3:g} ms.",
        f"All hosts use TCP {CONGESTION}, which every kernel has: the streams of a path get about "
        "the same rate.",
        _loads(results),
        f"Training: {steps[TRAIN]} steps of `advisor share train`; test: {steps[TEST]} steps of "
        "it with the destinations in the reverse order.",
        f"Steps of the training take at most {training}, those of the test at most, and epochs "
        f"always, {others}; the time after a change until it has taken effect is not counted. "
        "The paper's transfers took 90 s.",
        f"Every file has {STREAMS} streams. With all files, the most load and empty queues a flow "
        f"has {fewest_packets(max((run.most for run in runs), default=0) or MOST_FILES):.0f} "
        "packets or more in "
        "flight at its fair share.",
        f"Plans are made by `advisor share plan --run --most {caps}`, the paper's with at most 20 "
        "files at a time to one destination. The store has all earlier measurements, as a user's "
        "would; plans use all of them.",
        "Files are larger than can be moved, sparse at the source and in memory at the "
        "destination, and removed after each run: no disk is involved.",
        f"{most} run(s) of each ratio and factor; runs of one case are far apart in time.",
    ]
    return "## How it is measured\n\n" + "\n".join(filled(f"- {line}") for line in lines)


def _lengths(runs: Iterable[Run]) -> str:
    return ", ".join(sorted({format_duration(run.epoch_s) for run in runs})) or "…"


def _loads(results: Results) -> str:
    counts = ", ".join(str(one) for one in LOADS)
    training, plans = _load_lengths(results, TRAIN, TEST), _load_lengths(results, RATIO, FACTOR)
    return (
        f"External load: {counts} other streams from the source to {HOSTS[0].capitalize()}, by a "
        f"seeded sequence, which runs throughout: a new number every {training} in training and "
        f"test, and every {plans} under plans. Advisor knows nothing of it. The paper's "
        "training data is of different days and times of day, and its loads hardly vary within 15 "
        "minutes (figure 3)."
    )


def _load_lengths(results: Results, *parts: str) -> str:
    lengths_s = {one.lasts_s for one in results.all(Loaded) if one.part in parts}
    return " or ".join(format_duration(one) for one in sorted(lengths_s)) or "…"
