"""Computes the ratios from the results. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median

from tests.benchmarks.wan.cases import UDT_DEFAULT, Case
from tests.benchmarks.wan.results import (
    IPERF3,
    Again,
    Results,
    Run,
    Setting,
    Swept,
    Timed,
    cell_means,
    complete_rounds,
    key_of,
)
from tests.benchmarks.wan.running import default_key, references, wanted_again

METHODS = {
    "advise": "`advisor advise`, bayes",
    "before": "the version before",
    "advise-spsa": "`advisor advise`, SPSA",
    "spsa": "SPSA, the paper's constants",
    "default": "one TCP stream, kernel's buffers",
    IPERF3: "`iperf3`, its defaults",
    "udt": "UDT with its defaults",
}
"""In the order of the tables. The first four search, once a seed; the others have one setting."""

SEARCHING = ("advise", "before", "advise-spsa", "spsa")


@dataclass(frozen=True, slots=True)
class Point:
    """What one seed, or one round where nothing is searched, gave. `ratio`: to the sweep's best."""

    bps: float
    ratio: float
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """All that is shown of a case. `best`: of the sweep, as measured again; `cells`: of the sweep,
    as swept, by (streams, buffer)."""

    case: Case
    cells: dict[tuple[int, int], float]
    sweep_probes: int
    sweep_s: float
    rounds: int
    best: Setting
    best_bps: float
    default_bps: float
    points: dict[str, list[Point]]

    def ratios(self, method: str) -> list[float]:
        return [point.ratio for point in self.points.get(method, [])]


def summarize(case: Case, results: Results) -> CaseSummary | None:
    """None while what is needed has not been measured."""
    swept = results.all(Swept, case.key)
    rounds = complete_rounds(
        results.all(Again, case.key), set(wanted_again(case, results)) if swept else set()
    )
    if not swept or not rounds:
        return None
    rates = {key: [one[key] for one in rounds.values()] for key in next(iter(rounds.values()))}
    known = references(case, results)
    best_key = max(known, key=lambda key: mean(rates[key]))
    best_bps = mean(rates[best_key])
    points: dict[str, list[Point]] = {}
    for run in sorted(results.all(Run, case.key), key=lambda run: run.seed):
        found = run.setting is not None
        bps = mean(rates[key_of(run.transport, run.setting or {})]) if found else 0.0
        points.setdefault(run.method, []).append(Point(bps, bps / best_bps, run))
    fixed = {"default": default_key(case), IPERF3: IPERF3, "udt": key_of("udt", UDT_DEFAULT)}
    for method, key in fixed.items():
        points[method] = [Point(bps, bps / best_bps) for bps in rates[key]]
    return CaseSummary(
        case=case,
        cells=cell_means(swept),
        sweep_probes=len(swept),
        sweep_s=sum(t.seconds for t in results.all(Timed, case.key) if t.part == "sweep"),
        rounds=len(rounds),
        best=known[best_key],
        best_bps=best_bps,
        default_bps=mean(rates[default_key(case)]),
        points=points,
    )


def spread(values: list[float], digits: int = 2) -> str:
    """`median (least to most)`, or the one value; a dash without any."""
    if not values:
        return "–"
    middle, low, high = (
        f"{value:.{digits}f}" for value in (median(values), min(values), max(values))
    )
    return middle if low == high else f"{middle} ({low} to {high})"
