"""bayes on each file, trained on the other files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import msgspec

from advisor import registry
from advisor.api.method import Knowledge
from advisor.backtest.recorded import RecordedTable
from tests.benchmarks.methods.prior import derive, shipping, without
from tests.benchmarks.methods.searching import Searched, WithConstants, search
from tests.benchmarks.methods.tables import by_source

# SGData, sg1G and sg5-25M are all from Stampede to Gordon; SBData goes to Blacklight.
_GORDON = frozenset({"SGData", "sg1G", "sg5-25M"})


@dataclass(frozen=True)
class Scenario:
    """The knowledge of bayes about a path it has never seen.

    `prior`: the shipped table, derived without this path. `history`: the tables of the others.
    `peak`: also the maximum of their transfers, by HARP. `size`: the size of the files to move.
    `held_out`: the files held out one at a time, None for all. `teacher`: the one file to learn
    from, None for all that are not held out.
    """

    knows: str
    budget: int = 8
    prior: bool = True
    history: bool = False
    peak: bool = False
    size: bool = True
    held_out: frozenset[str] | None = None
    teacher: str | None = None

    @property
    def title(self) -> str:
        return f"{self.knows}; {self.budget} probes"

    def files(self, tables: Sequence[RecordedTable]) -> Iterator[tuple[str, list[RecordedTable]]]:
        """Every file to hold out and its tables."""
        for source, own in by_source(tables).items():
            if self.held_out is None or source in self.held_out:
                yield source, own

    def teachers(self, tables: Sequence[RecordedTable], source: str) -> list[RecordedTable]:
        """The tables that may teach bayes anything while this file is held out."""
        others = without(tables, source)
        return [table for table in others if self.teacher in (None, table.source)]


def _both(scenario: Scenario) -> list[Scenario]:
    return [scenario, replace(scenario, budget=16)]


SCENARIOS = (
    *_both(Scenario("prior of the other files, file size known")),
    *_both(Scenario("prior of the other files, file size not known", size=False)),
    *_both(Scenario("no prior, the other files as history", prior=False, history=True)),
    *_both(Scenario("no knowledge", prior=False, size=False)),
    Scenario("to Gordon: prior of the other files", held_out=_GORDON),
    Scenario("to Gordon: prior of the other route alone", held_out=_GORDON, teacher="SBData"),
)


def run(
    scenario: Scenario,
    tables: Sequence[RecordedTable],
    seeds: int,
    *,
    with_regret: bool = False,
) -> list[Searched]:
    """Every file held out once."""
    constants = {"shipped": float(scenario.prior), "history": float(scenario.peak)}
    searched = []
    for source, own in scenario.files(tables):
        teachers = scenario.teachers(tables, source)
        with _shipping(scenario, teachers):
            plugin = WithConstants(registry.method("bayes"), constants)
            searched += search(
                plugin,
                own,
                scenario.budget,
                seeds,
                lambda table: _knowledge(scenario, table, teachers),  # noqa: B023 — used at once
                with_regret=with_regret,
            )
    return searched


def _shipping(
    scenario: Scenario, teachers: Sequence[RecordedTable]
) -> AbstractContextManager[None]:
    return shipping(derive(teachers)) if scenario.prior else nullcontext()


def _knowledge(
    scenario: Scenario, table: RecordedTable, teachers: Sequence[RecordedTable]
) -> Knowledge:
    known = table.knowledge(teachers if scenario.history else ())
    return known if scenario.size else msgspec.structs.replace(known, dataset=None)
