"""What the figures of the page rest on: runs, history, and whether searches had ended."""

from __future__ import annotations

from collections.abc import Sequence

from tests.benchmarks.markdown import filled, table_text
from tests.benchmarks.transfers.cases import (
    BEST,
    CONDITIONS,
    CONDITIONS_PART,
    CONTESTANTS,
    DEFAULT,
    PLAIN,
    USUAL,
    Condition,
)
from tests.benchmarks.transfers.results import Results, Run

_FIXED = frozenset({PLAIN, DEFAULT, BEST})
_LAST_PART = 1 / 3
_NONE = "–"


def has_ended(run: Run) -> bool:
    """Whether a search kept one setting through the last third of its transfer."""
    if not run.looks:
        return False
    end_s = run.looks[-1].at_s
    return all(change.at_s < end_s * (1 - _LAST_PART) for change in run.changes)


def basis_text(results: Results) -> str:
    """A row for each load; "" without runs."""
    rows = [_row(condition, results) for condition in CONDITIONS.values()]
    if all(row[1] == _NONE for row in rows):
        return ""
    text = filled(
        "A search has ended if it kept one setting through the last third of its transfer. No "
        "method had a history. Contestants are named as `--methods` takes them."
    )
    head = ["", "runs of each contestant", "searches ended", "not measured"]
    return f"{text}\n\n{table_text(head, rows)}"


def _row(condition: Condition, results: Results) -> list[str]:
    shown = {
        contestant: runs
        for contestant in CONTESTANTS
        if (runs := results.runs(CONDITIONS_PART, condition.key, contestant))
    }
    if not shown:
        return [condition.title, _NONE, _NONE, "all"]
    searched = [run for name, runs in shown.items() if name not in _FIXED for run in runs]
    ended = f"{sum(map(has_ended, searched))} of {len(searched)}" if searched else _NONE
    missing = ", ".join(name for name in USUAL if name not in shown)
    return [condition.title, _counts(list(shown.values())), ended, missing or _NONE]


def _counts(shown: Sequence[Sequence[Run]]) -> str:
    least, most = min(map(len, shown)), max(map(len, shown))
    return f"{least}" if least == most else f"{least} to {most}"
