"""Many searches over many tables, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from advisor.api.method import Constant, Knowledge, Method, MethodPlugin
from advisor.api.values import Availability, Space
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.replay import Replayed, replay
from advisor.backtest.scores import score
from advisor.domain.space import flows_of
from tests.benchmarks.markdown import table_text


@dataclass(frozen=True)
class WithConstants:
    """A method with these constants as defaults."""

    plugin: MethodPlugin
    given: Mapping[str, float]

    @property
    def name(self) -> str:
        return self.plugin.name

    @property
    def summary(self) -> str:
        return self.plugin.summary

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.plugin.constants

    def available(self) -> Availability:
        return self.plugin.available()

    def create(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> Method:
        return self.plugin.create(space, rng, knowledge, {**self.given, **constants})


@dataclass(frozen=True)
class Searched:
    """How one search on a table ended."""

    table: RecordedTable
    end: Replayed


def search(
    plugin: MethodPlugin,
    tables: Iterable[RecordedTable],
    budget: int,
    seeds: int,
    knowledge: Callable[[RecordedTable], Knowledge] = RecordedTable.knowledge,
    *,
    with_regret: bool = False,
) -> list[Searched]:
    """Every table with every seed."""
    searched = []
    for table in tables:
        known = knowledge(table)
        ends = [
            replay(plugin, table, known, seed=seed, budget=budget, with_regret=with_regret)
            for seed in range(seeds)
        ]
        searched += [Searched(table, end) for end in ends]
    return searched


def fixed(
    tables: Iterable[RecordedTable], setting: Mapping[str, int], seeds: int
) -> list[Searched]:
    """The score of a fixed setting that is not probed.

    As often as there are seeds, so that its percentiles are over as many as those of a search.
    """
    searched = []
    for table in tables:
        cell = table.nearest(setting)
        end = Replayed(
            table=table.name,
            fraction=table.fraction(cell),
            probes=0,
            elapsed_s=0.0,
            flows=flows_of(table.setting(cell)),
        )
        searched += [Searched(table, end)] * seeds
    return searched


_COLUMNS = ("median", "p10", "≥ 0.95", "probes", "seconds", "flows ÷ best's", "more flows")


def scores_text(
    title: str,
    rows: Sequence[tuple[str, Sequence[Searched]]],
    extra: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """A table with the scores of each of these; `title` heads the column of names.

    `extra`: further columns, one cell a row.
    """
    further = extra or {}
    lines = [
        (name, *scores_of(searched), *(cells[i] for cells in further.values()))
        for i, (name, searched) in enumerate(rows)
    ]
    return table_text((title, *_COLUMNS, *further), lines)


def scores_of(searched: Sequence[Searched]) -> list[str]:
    """The cells of _COLUMNS."""
    one = score([each.end for each in searched])
    bests = [flows_of(each.table.setting(each.table.best_cell)) for each in searched]
    more = mean(each.end.flows > best for each, best in zip(searched, bests, strict=True))
    return [
        f"{one.median:.3f}",
        f"{one.p10:.3f}",
        f"{one.within_5_percent:.0%}",
        f"{one.probes:.1f}",
        f"{one.seconds:.0f}",
        f"{one.flows:.0f} / {mean(bests):.0f}",
        f"{more:.0%}",
    ]


def luck_of_tables(searched: Sequence[Searched]) -> str:
    """The uncertainty of median and p10 from the choice of tables, nine times in ten."""
    rows = list(_by_table(searched).values())
    words = []
    for name, share in (("median", 0.5), ("p10", 0.1)):
        drawn = [
            np.quantile(np.concatenate([rows[i] for i in draw]), share) for draw in _draws(rows)
        ]
        low, high = np.quantile(drawn, (0.05, 0.95))
        words.append(f"{name} {low:.2f} to {high:.2f}")
    return f"Bootstrap over the {len(rows)} tables, 5 to 95 %: {', '.join(words)}."


def fraction_of(one: Searched) -> float:
    """The throughput of its recommended setting as a share of the best."""
    return one.end.fraction


def lead(
    searched: Sequence[Searched],
    over: Sequence[Searched],
    of: Callable[[Searched], float] = fraction_of,
) -> str:
    """Mean fraction less that of others on the same tables, 5 to 95 % by bootstrap over these.

    `of`: what else to take the mean of.
    """
    ours, theirs = _by_table(searched, of), _by_table(over, of)
    apart = np.array([mean(ours[name]) - mean(theirs[name]) for name in theirs])
    low, high = np.quantile([apart[draw].mean() for draw in _draws(apart)], (0.05, 0.95))
    return f"{apart.mean():+.3f} ({low:+.3f} to {high:+.3f})"


def _by_table(
    searched: Sequence[Searched], of: Callable[[Searched], float] = fraction_of
) -> dict[str, list[float]]:
    figures: dict[str, list[float]] = {}
    for one in searched:
        figures.setdefault(one.table.name, []).append(of(one))
    return figures


def _draws(rows: Sized) -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(len(rows), size=(2000, len(rows)))
