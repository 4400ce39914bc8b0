"""Several runs of a fleet in virtual time, with different seeds, and what they have in common.

A run is a task by itself: it carries its fleet and its seed, and gives the same wherever it runs.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from advisor.fleet.plan.fleet import Fleet
from advisor.fleet.simulation.report import Notices, SimulationReport
from advisor.fleet.simulation.running import Simulation
from advisor.runtime.executor import Computation


class SimulationRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run to the end. `workers`: how many measurements at a time."""

    fleet: Fleet
    duration_s: float
    workers: int
    seed: int


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A figure over all runs that reached it; `runs`: how many did."""

    runs: int
    least: float
    median: float
    most: float


class SimulationSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a fleet in several runs. `figures`: by the name that they have in a report."""

    seeds: list[int]
    figures: dict[str, Spread]
    reports: list[SimulationReport]


_NONE: Final = Notices(happened=0, noticed=0, median_s=None, p90_s=None)


def simulated(run: SimulationRun) -> SimulationReport:
    """The report of a run."""
    simulation = Simulation(run.fleet, run.duration_s, run.workers, run.seed)
    for _ in simulation.run():
        pass
    return simulation.report()


SIMULATING: Final = Computation(simulated, SimulationReport)


def summary_of(reports: Sequence[SimulationReport]) -> SimulationSummary:
    """The least, median and largest of each figure; `reports`: one at least."""
    values: dict[str, list[float]] = {}
    kinds = {kind: None for report in reports for kind in report.changes}
    for report in reports:
        for name, value in _figures(report, kinds):
            values.setdefault(name, [])
            if value is not None:
                values[name].append(float(value))
    return SimulationSummary(
        seeds=[report.seed for report in reports],
        figures={name: _spread(found) for name, found in values.items() if found},
        reports=list(reports),
    )


def _spread(found: Sequence[float]) -> Spread:
    return Spread(
        runs=len(found), least=min(found), median=float(np.median(found)), most=max(found)
    )


def _figures(report: SimulationReport, kinds: Iterable[str]) -> Iterator[tuple[str, float | None]]:
    """Every figure that is a number, by a name with dots for what is inside another."""
    for name in (
        *("measurements", "failures", "idle_share", "idle_share_after_cover", "jain_pairs"),
        *("jain_hosts", "median_age_s", "oldest_age_s", "false_alarms"),
        "false_alarms_per_pair_year",
    ):
        yield name, getattr(report, name)
    for part, at_s in report.cover_s.items():
        yield f"cover_s.{part}", at_s
    if report.traffic is not None:
        for name, value in msgspec.structs.asdict(report.traffic).items():
            yield f"traffic.{name}", value
    for kind in kinds:
        one = report.changes.get(kind, _NONE)
        yield f"changes.{kind}.happened", one.happened
        yield f"changes.{kind}.noticed", one.noticed
        yield f"changes.{kind}.median_s", one.median_s
