"""The sweep: every cell of the space by a whole transfer, the best of them again."""

from __future__ import annotations

import random
from statistics import median

from advisor.domain.space import Setting
from tests.benchmarks.disk.cases import BEST_OF_SWEEP, CUT_AT, REPEATS, Case
from tests.benchmarks.disk.results import Ran, Results, Session, Swept, cell_key
from tests.benchmarks.disk.shell import CUT, Shell
from tests.benchmarks.wan.running import say


def advised(case: Case, results: Results) -> list[Session]:
    """The sessions that ended with advice."""
    return [s for s in results.all(Session, case.key) if s.setting is not None]


def cells(case: Case, results: Results) -> dict[str, tuple[Setting, str]]:
    """Setting and line of every cell, by key: the space and the advised settings."""
    sessions = advised(case, results)
    found = [pair for session in sessions[:1] for pair in session.by_cell]
    found += [(session.setting or {}, session.shell) for session in sessions]
    return {cell_key(setting): (setting, line) for setting, line in found}


def left_to_sweep(case: Case, results: Results) -> tuple[int, list[str]]:
    """The next repeat, and the keys of its missing cells; none when all is done."""
    done: dict[str, list[Swept]] = {key: [] for key in cells(case, results)}
    for one in results.all(Swept, case.key):
        done[cell_key(one.setting)].append(one)
    missing = [key for key, ones in done.items() if not ones]
    if missing:
        return 0, missing
    whole_s = {key: ones[0].seconds for key, ones in done.items() if not ones[0].trouble}
    best = sorted(whole_s, key=lambda key: whole_s[key])[:BEST_OF_SWEEP]
    wanted = {*best, *(cell_key(session.setting or {}) for session in advised(case, results))}
    for repeat in range(1, REPEATS):
        left = [key for key in sorted(wanted) if len(done[key]) <= repeat]
        if left:
            return repeat, left
    return REPEATS, []


def sweep(shell: Shell, case: Case, results: Results) -> None:
    """The rest of the sweep. The advised lines have been timed before, which limits the cells."""
    lines = [
        run.seconds for run in results.all(Ran, case.key) if run.method not in case.tool.defaults
    ]
    found = cells(case, results)
    while (left := left_to_sweep(case, results))[1]:
        repeat, keys = left
        random.Random(f"{case.key}{repeat}").shuffle(keys)
        # Repeated cells are only ended if they hang.
        ceiling_s = CUT_AT * median(lines) * (1 if repeat == 0 else REPEATS)
        for key in keys:
            setting, line = found[key]
            seconds, trouble = shell.run(line, ceiling_s)
            results.add(
                Swept(
                    case=case.key, repeat=repeat, setting=setting, seconds=seconds, trouble=trouble
                )
            )
            over = "over " if trouble == CUT else ""
            say(f"  sweep {key}: {over}{seconds:.1f} s {trouble}")
