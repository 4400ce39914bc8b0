"""Replays the search methods against recorded tables and prints how good they are.

    ADVISOR_DATA=… python -m tests.benchmarks.methods              everything, minutes
    ADVISOR_DATA=… python -m tests.benchmarks.methods --seeds 3    does it work?
    ADVISOR_DATA=… python -m tests.benchmarks.methods --only history

The tables are Markdown, on standard output; progress goes to standard error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from advisor import registry
from advisor.api.method import MethodPlugin
from advisor.backtest.recorded import RecordedTable
from tests.benchmarks.methods.accuracy import (
    estimated,
    estimation_text,
    outliers_text,
    validated,
    validation_text,
)
from tests.benchmarks.methods.baselines import FIXED, RANDOM, exhaustive
from tests.benchmarks.methods.curves import (
    DEPTHS_AND_WIDTHS,
    curves,
    one_peak,
    paper_text,
    walk,
    walks_text,
)
from tests.benchmarks.methods.held_out import SCENARIOS, run
from tests.benchmarks.methods.history import (
    LONGEST,
    contenders,
    gains_text,
    pace_text,
    scenarios,
    shares_text,
    taught,
)
from tests.benchmarks.methods.prior import derive, differences
from tests.benchmarks.methods.searching import (
    Searched,
    fixed,
    lead,
    luck_of_tables,
    scores_text,
    search,
)
from tests.benchmarks.methods.tables import (
    Trouble,
    data_folder,
    grid_tables,
    stream_tables,
)

_Row: TypeAlias = tuple[str, list[Searched]]

BUDGETS = (8, 16, 48)
CURVES_TO_A_SEED = 5
"""Curves are many: a fifth of the seeds do."""

HARPS_TO_A_SEED = 5
"""One sample is all that differs: a fifth of the seeds do."""

LEARNERS = {"bayes", "harp", "ann-ot"}
"""The methods that past transfers teach."""

SPLITS = 10
"""Of each group, for the validation accuracy."""

SECTIONS = ("bayes", "others", "history", "curves")
SEVERAL_PEAKS = "all files, several peaks"


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _section(title: str, *parts: str) -> None:
    print(f"### {title}\n", *(f"{part}\n" for part in parts), sep="\n", flush=True)


def _bayes(tables: Sequence[RecordedTable], seeds: int) -> list[_Row]:
    """What the scenarios come to; the first two are with the prior of the other files."""
    rows: list[_Row] = []
    for scenario in SCENARIOS:
        say(f"bayes: {scenario.title}")
        rows.append((scenario.title, run(scenario, tables, seeds)))
    title, first = rows[0]
    _section("bayes, each file held out", scores_text("it has", rows), luck_of_tables(first))
    by_table = [(table.name, [one for one in first if one.table is table]) for table in tables]
    _section(f"bayes by table: {title}", scores_text("held out", by_table))
    return rows


def _others(tables: Sequence[RecordedTable], seeds: int, bayes: Sequence[_Row]) -> None:
    """All else; `bayes`: with the prior of the other files, at 8 and at 16 probes."""
    others = list(_contenders(tables, seeds))
    at_8, at_16 = (searched for _, searched in bayes)
    leads = [lead(searched, at_8 if budget <= 8 else at_16) for _, budget, searched in others]
    rows = [(f"bayes, {title}", searched) for title, searched in bayes]
    rows += [(title, searched) for title, _, searched in others]
    columns = {"mean − bayes": ["–"] * len(bayes) + leads}
    _section("The other methods", scores_text("method", rows, columns))


def _contenders(
    tables: Sequence[RecordedTable], seeds: int
) -> Iterator[tuple[str, int, list[Searched]]]:
    """Title, budget and searches of everything that learns nothing from other paths."""
    for title, setting in FIXED.items():
        yield title, 0, fixed(tables, setting, seeds)
    for plugin in (RANDOM, *_bundled_that_know_nothing()):
        for budget in BUDGETS:
            title = f"{plugin.name}; {budget} probes"
            say(title)
            searched = search(plugin, tables, budget, seeds)
            yield title, budget, searched
            # Ended by itself: it would do the same with more.
            if max(one.end.probes for one in searched) < budget:
                break
    for plugin, budget in exhaustive():
        title = f"sweep of all 216 settings; {budget} probes"
        say(title)
        yield title, budget, search(plugin, tables, budget, seeds)


def _bundled_that_know_nothing() -> list[MethodPlugin]:
    lines = [one for one in registry.listing() if (one.kind, one.origin) == ("methods", "bundled")]
    return [registry.method(one.name) for one in lines if one.name not in LEARNERS]


def _depth_width(
    grids: Sequence[RecordedTable], streams: Sequence[RecordedTable], seeds: int
) -> None:
    groups: dict[str, list[RecordedTable]] = {}
    for curve in [*curves(streams, "parallelism"), *curves(grids, "concurrency")]:
        name = curve.source if one_peak(curve) else SEVERAL_PEAKS
        groups.setdefault(name, []).append(curve)
    rows = []
    for name, found in sorted(groups.items(), key=lambda group: group[0] == SEVERAL_PEAKS):
        for depth, width in DEPTHS_AND_WIDTHS:
            say(f"depth-width ({depth}, {width}): {len(found)} curves of {name}")
            rows.append((name, (depth, width), walk(found, depth, width, seeds)))
    _section("depth-width on curves", walks_text(rows), paper_text())


def _history(tables: Sequence[RecordedTable], seeds: int) -> None:
    """What past transfers are good for, each file held out."""
    few = max(1, seeds // HARPS_TO_A_SEED)
    say("history: accuracy")
    validation = validation_text(validated(tables, SPLITS))
    estimation = estimation_text(estimated(tables, few))
    _section("History: HARP, accuracy", validation, outliers_text(tables), estimation)
    rows = []
    for title, plugin, learns, budget in contenders():
        say(f"history: {title}")
        knowledge = taught(tables) if learns else RecordedTable.knowledge
        rows.append((title, search(plugin, tables, budget, few, knowledge)))
    paces = []
    for scenario in scenarios():
        say(f"history: bayes, {scenario.title}")
        searched = run(scenario, tables, seeds, with_regret=True)
        if scenario.budget < LONGEST:
            rows.append((f"bayes, {scenario.title}", searched))
        else:
            paces.append((scenario.knows, searched))
    _section("History: HARP, shares of the best", shares_text(rows))
    _section("History: HARP, pace", pace_text(paces), gains_text(paces))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-methods", description=__doc__)
    parser.add_argument("--seeds", type=int, default=50, help="searches on each table [50]")
    parser.add_argument("--only", choices=SECTIONS, help="one section; others includes bayes")
    return parser.parse_args()


def main() -> None:
    options = _options()
    seeds = options.seeds
    wanted = {options.only} if options.only else set(SECTIONS)
    try:
        folder = data_folder()
        grids, streams = grid_tables(folder), stream_tables(folder)
        say(f"{len(grids)} grids, {len(streams)} tables over streams, {seeds} seeds")
        for sentence in differences(derive(grids)):
            say(f"bayes's prior differs from what these tables teach: {sentence}")
        if wanted & {"bayes", "others"}:
            bayes = _bayes(grids, seeds)
            if "others" in wanted:
                _others(grids, seeds, bayes[:2])
        if "history" in wanted:
            _history(grids, seeds)
        if "curves" in wanted:
            _depth_width(grids, streams, max(1, seeds // CURVES_TO_A_SEED))
    except Trouble as trouble:
        sys.exit(f"bench-methods: {trouble}")
    except KeyboardInterrupt:
        sys.exit(130)
