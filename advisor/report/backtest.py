"""The results of a backtest, as text and as JSON; and its progress, on a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from advisor.backtest.recorded import RecordedTable
from advisor.backtest.running import (
    FEWEST_TABLES,
    Backtest,
    Finished,
    LeftOut,
    Searched,
    best_on,
    chance,
    ranked,
)
from advisor.domain.printable import printable
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.space import flows_of
from advisor.report.counting import counted
from advisor.report.output import transient_bar
from advisor.traits import flow_names

METHOD_COLUMNS: Final = ("method", "median", "p10", "probes", "probing", "flows", "≥ 95 %")
TABLE_COLUMNS: Final = ("table", "best method", "median", "best rate")
_UNLIKELY: Final = 0.1


def scores_data(backtest: Backtest, finished: Sequence[Finished]) -> dict[str, Any]:
    """The scores, best first, and the tables, for JSON."""
    scores = {one.method: one.score for one in ranked(finished)}
    tables = [
        {
            "name": table.name,
            "source": table.source,
            "cells": len(table.cells),
            "repeats": sum(map(len, table.repeats.values())),
            "best": table.setting(table.best_cell),
            "best_bps": table.rates_bps[table.best_cell],
            "best_flows": flows_of(table.setting(table.best_cell), flow_names()),
        }
        for table in backtest.tables
    ]
    return {"methods": scores, "tables": tables}


def left_out_sentence(one: LeftOut) -> str:
    """The method that is excluded from the scores, and why."""
    reason = " ".join(one.reason.split()).rstrip(".")
    return f"{one.method} is left out: it failed on {one.table}: {reason}"


def conclusion(ranking: Sequence[Finished]) -> str:
    """The best method, and whether it leads by more than chance."""
    first = ranking[0]
    tables = len(first.by_table)
    came_to = f"{first.method} achieved {_share(first.score.median)} of the best in the median"
    if len(ranking) == 1:
        return f"{came_to}; there is no other to compare it with."
    second = ranking[1]
    head = f"{first.method} would have served these paths best"
    medians = f"{_share(first.score.median)} against {_share(second.score.median)}"
    against = f"{second.method} ({medians} in the median)"
    if tables < FEWEST_TABLES:
        return (
            f"{head}, but {counted(tables, 'table')} "
            f"{'is' if tables == 1 else 'are'} too few to distinguish it from {against}."
        )
    likelihood = chance(first, second)
    tested = f"permutation test over {tables} tables, p = {likelihood:.2g}"
    if likelihood < _UNLIKELY:
        return f"{head}, ahead of {against} by more than chance ({tested})."
    return f"{head}, but not by more than chance against {against}: {tested}."


@contextlib.contextmanager
def progress(wanted: bool) -> Iterator[Callable[[Searched], None]]:
    """Progress callbacks; a bar on standard error if that is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    with transient_bar(
        sys.stderr,
        TextColumn("searching: {task.description:<18}", markup=False),
        BarColumn(bar_width=16),
        MofNCompleteColumn(separator=" of "),
        TimeRemainingColumn(compact=True),
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda one: bar.update(
            task, description=printable(one.method), completed=one.done, total=one.of
        )


def method_cells(one: Finished) -> list[str]:
    """A row of METHOD_COLUMNS."""
    return [
        one.method,
        _share(one.score.median),
        _share(one.score.p10),
        f"{one.score.probes:6.1f}",
        format_duration(one.score.seconds),
        f"{one.score.flows:6.1f}",
        f"{one.score.within_5_percent:6.0%}",
    ]


def table_cells(table: RecordedTable, place: int, finished: Sequence[Finished]) -> list[str]:
    """A row of TABLE_COLUMNS."""
    best = best_on(finished, place)
    return [
        table.name,
        best.method,
        _share(best.by_table[place].median),
        format_rate(table.rates_bps[table.best_cell]),
    ]


def extent(backtest: Backtest) -> str:
    """The amount of replayed data."""
    sources = len({table.source for table in backtest.tables})
    return (
        f"{counted(len(backtest.tables), 'table')} of {counted(sources, 'source')}, "
        f"{counted(backtest.seeds, 'search', 'es')} of each method against each, "
        f"{counted(backtest.budget, 'probe')} at most"
    )


def caption(tables: Sequence[RecordedTable]) -> str:
    """The meaning of METHOD_COLUMNS."""
    flows = np.mean([flows_of(t.setting(t.best_cell), flow_names()) for t in tables])
    return (
        "median, p10: what the recommended setting achieves, as a share of the table's best. "
        f"probes, probing, flows: means; the best cells have {flows:.1f} flows. "
        "≥ 95 %: share of searches that achieved this."
    )


def _share(fraction: float) -> str:
    return f"{fraction:.2f}"
