"""One search against one recorded table."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell, Repeat
from advisor.domain.measurement import Failure, FailureKind, Measurement, Outcome
from advisor.domain.space import Setting, flows_of
from advisor.methods.api import Knowledge, Method, MethodPlugin
from advisor.traits import flow_names


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """How one search ended.

    `fraction`: throughput of the recommended setting relative to the table's best; 0 where nothing
    was recommended. `flows`: concurrency × parallelism, or streams, of that setting; 0 likewise.
    `regret`: after each probe, the seconds spent and 1 - fraction for the recommendation at that
    time; empty unless requested.
    """

    table: str
    fraction: float
    probes: int
    elapsed_s: float
    flows: int
    regret: list[tuple[float, float]] = field(default_factory=list)


class _Answers:
    """Answers probes from a table."""

    def __init__(self, table: RecordedTable, rng: np.random.Generator, in_order: bool) -> None:
        self._table, self._rng, self._in_order = table, rng, in_order
        self._drawn: Counter[Cell] = Counter()

    def probe(self, setting: Setting) -> Outcome:
        """One of the repeats of the nearest cell: the next in time, or a random one."""
        cell = self._table.nearest(setting)
        repeats = self._table.repeats[cell]
        if self._in_order:
            turn = self._drawn[cell] % len(repeats)
            self._drawn[cell] += 1
        else:
            turn = int(self._rng.integers(len(repeats)))
        return _outcome(repeats[turn])


def _outcome(repeat: Repeat) -> Outcome:
    if repeat.throughput_bps <= 0:
        return Failure(
            kind=FailureKind.CRASHED, message="it failed when recorded", elapsed_s=repeat.elapsed_s
        )
    return Measurement(
        throughput_bps=repeat.throughput_bps,
        stderr_bps=0.0,
        intervals=[],
        steady_from=0,
        settled=True,
        elapsed_s=repeat.elapsed_s,
    )


def replay(
    plugin: MethodPlugin,
    table: RecordedTable,
    knowledge: Knowledge,
    *,
    seed: int,
    budget: int,
    in_order: bool = False,
    with_regret: bool = False,
) -> Replayed:
    """Run one search to its end or for `budget` probes; the same seed draws the same repeats."""
    # Two streams, so that the method's draws do not change the table's answers.
    answers = _Answers(table, np.random.default_rng([seed, 1]), in_order)
    method = plugin.create(table.space, np.random.default_rng([seed, 0]), knowledge, {})
    probes, elapsed_s, regret = 0, 0.0, []
    while probes < budget and (setting := method.ask()) is not None:
        outcome = answers.probe(setting)
        method.tell(setting, outcome)
        probes, elapsed_s = probes + 1, elapsed_s + outcome.elapsed_s
        if with_regret:
            regret.append((elapsed_s, 1 - _standing(method, table)[0]))
    fraction, flows = _standing(method, table)
    return Replayed(
        table=table.name,
        fraction=fraction,
        probes=probes,
        elapsed_s=elapsed_s,
        flows=flows,
        regret=regret,
    )


def _standing(method: Method, table: RecordedTable) -> tuple[float, int]:
    """Fraction of the best, and flows, of what the method now recommends."""
    recommended = method.recommended()
    if recommended is None:
        return 0.0, 0
    cell = table.nearest(recommended[0])
    return table.fraction(cell), flows_of(table.setting(cell), flow_names())
