"""The generated parts of docs/benchmarks-plans.md, from the results alone."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.benchmarks.markdown import table_text
from tests.benchmarks.medians import median_interval
from tests.benchmarks.plans.cases import LOADS, Series
from tests.benchmarks.plans.results import Ran, Results


def write_part(page: Path, key: str, text: str) -> None:
    """Replace what is between `<!-- key -->` and `<!-- end -->`."""
    before, mark, after = page.read_text().partition(f"<!-- {key} -->\n")
    if not mark:
        raise ValueError(f"{page} has no <!-- {key} -->")
    _, end, rest = after.partition("<!-- end -->\n")
    page.write_text(f"{before}{mark}\n{text}\n\n{end}{rest}")


def series_text(series: Series, results: Results) -> str:
    """What the results rest on, the rates, and the levels."""
    if not results.lines:
        return "Not measured yet: `make bench-plans` does, in some hours."
    parts = [basis_text(series, results), rates_text(series, results)]
    return "\n\n".join([*parts, levels_text(series, results)])


def basis_text(series: Series, results: Results) -> str:
    """Runs and history records per load, and whether searches had ended."""
    rows = []
    for load in LOADS:
        runs = [len(results.runs(load, method)) for method in series.methods]
        failed = sum(bool(one.trouble) for one in results.ran if one.load == load)
        settled = [
            is_settled
            for method in series.methods
            for one in results.runs(load, method)
            for is_settled in one.settled.values()
        ]
        rows.append(
            (
                load,
                _range(runs),
                str(failed),
                str(results.records(load)),
                f"{sum(settled)} of {len(settled)}" if settled else "none searched",
            )
        )
    head = ("load", "runs of each method", "failed", "history records", "searches ended")
    return table_text(head, rows)


def _range(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"


def rates_text(series: Series, results: Results) -> str:
    """Medians with intervals: all bytes over the whole time of the command."""
    rows = [
        [method, *(_cell(results.runs(load, method)) for load in LOADS)]
        for method in series.methods
    ]
    return table_text(["method", *(f"{load}, Mbit/s" for load in LOADS)], rows)


def _cell(runs: list[Ran]) -> str:
    if not runs:
        return "–"
    low, middle, high = median_interval([one.bps / 1e6 for one in runs])
    if len(runs) == 1:
        return f"{middle:.0f} (1 run)"
    return f"{middle:.0f} [{low:.0f}, {high:.0f}] ({len(runs)} runs)"


def levels_text(series: Series, results: Results) -> str:
    """Of the first run of each method under each load."""
    rows = []
    for method, load in itertools.product(series.methods, LOADS):
        if found := results.runs(load, method):
            first = found[0]
            levels = ", ".join(f"{size} {c} × {p}" for size, (c, p) in first.levels.items())
            changes = f"{first.changes}" if first.changes else "–"
            rows.append((method, load, levels, changes))
    head = ("method", "load", "classes, first run: concurrency × streams at its end", "changes")
    return table_text(head, rows)
