"""Many searches: several methods, each against several tables with several seeds."""

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from advisor.backtest.recorded import RecordedTable
from advisor.backtest.replay import Replayed
from advisor.backtest.scores import MethodScore, regret_over_time, score
from advisor.backtest.searching import SEARCHING, Found, Search, SentMethod
from advisor.methods.api import Knowledge, MethodPlugin
from advisor.runtime.executor import Executor, InThisProcess

FEWEST_TABLES: Final = 5
"""With fewer, even a method that leads on every table does so by chance one time in ten."""

_POINTS: Final = 200
# For up to 14 tables every permutation is evaluated.
_MOST_RESAMPLES: Final = 2**14
_RESAMPLES_AT_ONCE: Final = 2**10

# A search takes from a tenth of a millisecond to some tens: few of them are not worth sending.
_MOST_IN_A_BATCH: Final = 64
_FEWEST_BATCHES: Final = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Backtest:
    """What is replayed: at least one table.

    `seeds`: searches of every method against every table. `budget`: maximum number of probes per
    search. `in_order`: repeats are returned in order of time, else at random. `learn_from_others`:
    a search knows the tables of other sources. `with_regret`: record regret over time.
    """

    methods: Sequence[MethodPlugin]
    tables: Sequence[RecordedTable]
    seeds: int
    budget: int
    in_order: bool = False
    learn_from_others: bool = False
    with_regret: bool = False


class Searched(NamedTuple):
    """One search has ended; `done` of all `of` planned searches."""

    method: str
    table: str
    done: int
    of: int


class LeftOut(NamedTuple):
    """A method that raised: it gets no score, and its remaining searches are skipped."""

    method: str
    table: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finished:
    """A method that has run against every table.

    `by_table`: its score on each, in their order. `regret`: seconds of probing and mean regret,
    with equal weight for every table; empty unless requested.
    """

    method: str
    score: MethodScore
    by_table: Sequence[MethodScore]
    regret: Sequence[tuple[float, float]] = ()


def run(
    backtest: Backtest, executor: Executor | None = None
) -> Iterator[Searched | LeftOut | Finished]:
    """Run the searches, one method after another; the caller may stop between any two.

    `executor`: where they run, by default in this process; the events are the same. Raises
    CannotCompute.
    """
    failed: set[int] = set()
    of_a_method = len(backtest.tables) * backtest.seeds
    of = len(backtest.methods) * of_a_method
    batch = max(1, min(_MOST_IN_A_BATCH, of // _FEWEST_BATCHES))
    found = (executor or InThisProcess()).results(
        SEARCHING, _searches(backtest, failed), batch=batch
    )
    for turn, plugin in enumerate(backtest.methods):
        own = ((one, each) for one, each in found if one.turn not in failed)
        for event in _method(backtest, plugin, own, (turn * of_a_method, of)):
            if isinstance(event, LeftOut):
                failed.add(turn)
            yield event


def _searches(backtest: Backtest, failed: set[int]) -> Iterator[Search]:
    """All of them, except those of methods that have failed by then."""
    knowledge = _knowledge(backtest)
    for turn, plugin in enumerate(backtest.methods):
        method = SentMethod(plugin)
        for table, known in zip(backtest.tables, knowledge, strict=True):
            for seed in range(backtest.seeds):
                if turn in failed:
                    break
                yield Search(
                    turn,
                    method,
                    table,
                    known,
                    seed,
                    backtest.budget,
                    backtest.in_order,
                    backtest.with_regret,
                )


def ranked(finished: Sequence[Finished]) -> list[Finished]:
    """Best first: by median, then by the 10th percentile, both in hundredths, then by time."""
    return sorted(finished, key=lambda one: _merit(one.score), reverse=True)


def best_on(finished: Sequence[Finished], table: int) -> Finished:
    """The best method, of at least one, on the table with that index."""
    return max(finished, key=lambda one: _merit(one.by_table[table]))


def _merit(one: MethodScore) -> tuple[float, float, float]:
    # Hundredths: no path would notice a smaller difference.
    return round(one.median, 2), round(one.p10, 2), -one.seconds


def chance(first: Finished, second: Finished) -> float:
    """Probability that the first leads the second by this much if both served paths equally well.

    A permutation test of the tables' medians in pairs; two-sided, since the first is first only
    because it leads.
    """
    from scipy.stats import permutation_test

    medians = [[one.median for one in method.by_table] for method in (first, second)]
    tested = permutation_test(
        medians,
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=_MOST_RESAMPLES,
        batch=_RESAMPLES_AT_ONCE,
        alternative="greater",
        random_state=0,
    )
    return min(1.0, 2 * float(tested.pvalue))


def _knowledge(backtest: Backtest) -> list[Knowledge]:
    """The prior knowledge of each table's searches; one object for all searches of a table."""
    if not backtest.learn_from_others:
        return [table.knowledge() for table in backtest.tables]
    return [
        table.knowledge([other for other in backtest.tables if other.source != table.source])
        for table in backtest.tables
    ]


def _method(
    backtest: Backtest,
    plugin: MethodPlugin,
    found: Iterator[tuple[Search, Found]],
    done_of: tuple[int, int],
) -> Iterator[Searched | LeftOut | Finished]:
    """`found`: its searches in order; `done_of`: searches of methods before it, and of all."""
    at_s = _times_s(backtest) if backtest.with_regret else []
    done, of = done_of
    everything: list[Replayed] = []
    by_table: list[MethodScore] = []
    regrets: list[list[float]] = []
    for table in backtest.tables:
        searches: list[Replayed] = []
        for _, one in islice(found, backtest.seeds):
            if one.replayed is None:
                yield LeftOut(plugin.name, table.name, one.failure)
                return
            searches.append(one.replayed)
            done += 1
            yield Searched(plugin.name, table.name, done, of)
        by_table.append(score(searches))
        if backtest.with_regret:
            regrets.append([mean for mean, _ in regret_over_time(searches, at_s)])
            # Thousands of searches with every step would take too much memory.
            searches = [dataclasses.replace(one, regret=[]) for one in searches]
        everything += searches
    regret = zip(at_s, np.mean(regrets, axis=0).tolist(), strict=True) if regrets else ()
    yield Finished(
        method=plugin.name, score=score(everything), by_table=by_table, regret=list(regret)
    )


def _times_s(backtest: Backtest) -> list[float]:
    """From before the shortest first probe to after the longest last one, on a log axis."""
    elapsed_s = [
        repeat.elapsed_s
        for table in backtest.tables
        for repeats in table.repeats.values()
        for repeat in repeats
        if repeat.elapsed_s > 0
    ] or [1.0]
    last_s = max(elapsed_s) * backtest.budget
    return [float(one) for one in np.geomspace(min(elapsed_s) / 2, last_s, _POINTS)]
