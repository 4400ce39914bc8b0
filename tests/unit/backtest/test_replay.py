"""Searches replayed against a table small enough to know every answer."""

import pytest

from advisor import registry
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Repeat
from advisor.backtest.replay import Replayed, replay
from advisor.backtest.scores import regret_over_time, score
from advisor.domain.space import Parameter, Scale, Space
from advisor.methods.api import Knowledge

SPACE = Space(
    parameters=tuple(
        Parameter(name=name, unit="", lower=1, upper=8, scale=Scale.LOG2)
        for name in ("concurrency", "parallelism")
    ),
    cost_order=("concurrency", "parallelism"),
)
RATES = {(c, p): [1e9 * c * p] * 3 for c in (1, 2, 4, 8) for p in (1, 2, 4, 8)}


def table(rates: dict[tuple[int, ...], list[float]] | None = None) -> RecordedTable:
    given = RATES if rates is None else rates
    repeats = {cell: [Repeat(bps, 10.0) for bps in row] for cell, row in given.items()}
    return RecordedTable(name="a table", source="a file", space=SPACE, repeats=repeats)


def replayed(name: str, on: RecordedTable, budget: int = 100, **options: bool) -> Replayed:
    plugin = registry.method(name)
    return replay(plugin, on, Knowledge(), seed=1, budget=budget, **options)


def test_a_sweep_finds_the_best_cell() -> None:
    found = replayed("sweep", table(), budget=16)
    assert (found.fraction, found.probes, found.elapsed_s) == (1.0, 16, 160.0)
    assert found.flows == 64


def test_a_fixed_answer_is_worth_what_its_cell_gave() -> None:
    found = replayed("globus-default", table())
    # nc 2 × np 8 of the 64 that give most.
    assert (found.fraction, found.flows, found.probes) == (16 / 64, 16, 1)


def test_one_lucky_repeat_does_not_make_a_cell_the_best() -> None:
    lucky = table(RATES | {(1, 1): [1e9, 1e9, 9e12]})
    assert lucky.best_cell == (8, 8)
    assert lucky.fraction((1, 1)) == 1 / 64


def test_settings_off_the_grid_go_to_the_nearest_in_octaves() -> None:
    one = table()
    assert one.nearest({"concurrency": 3, "parallelism": 5}) == (4, 4)
    assert one.nearest({"concurrency": 100, "parallelism": 1}) == (8, 1)


def test_repeats_come_in_order_where_time_counts() -> None:
    only = table({(1, 1): [1e9, 2e9, 3e9], (8, 8): [1e9]})
    plugin = registry.method("compass")
    in_order = [
        replay(plugin, only, Knowledge(), seed=seed, budget=9, in_order=True) for seed in range(5)
    ]
    assert len({one.fraction for one in in_order}) == 1


def test_the_same_seed_gives_the_same_search() -> None:
    noisy = table({cell: [bps[0], 2 * bps[0], 3 * bps[0]] for cell, bps in RATES.items()})
    assert replayed("spsa", noisy) == replayed("spsa", noisy)


def test_recorded_failures_are_failures() -> None:
    dead = table({cell: [0.0] for cell in RATES})
    found = replayed("nelder-mead", dead, budget=10)
    assert (found.fraction, found.flows) == (0.0, 0)


def test_regret_falls_to_what_is_left_in_the_end() -> None:
    found = replayed("sweep", table(), budget=16, with_regret=True)
    times, regrets = zip(*found.regret, strict=True)
    assert times == tuple(10.0 * (i + 1) for i in range(16))
    assert list(regrets) == sorted(regrets, reverse=True)
    assert regrets[-1] == 0.0


def a_search(fraction: float, regret: list[tuple[float, float]] | None = None) -> Replayed:
    return Replayed(
        table="t", fraction=fraction, probes=4, elapsed_s=40, flows=8, regret=regret or []
    )


def test_scores_are_over_all_searches() -> None:
    found = score([a_search(f) for f in (0.1, 0.9, 0.94, 0.96, 1.0)])
    assert found.median == 0.94
    assert found.p10 == pytest.approx(0.1 + 0.4 * 0.8)
    assert (found.probes, found.seconds, found.flows) == (4, 40, 8)
    assert found.within_5_percent == 0.4


def test_regret_over_time_is_all_before_the_first_probe() -> None:
    searches = [a_search(0.5, [(10, 0.6), (20, 0.5)]), a_search(0.9, [(5, 0.2), (30, 0.1)])]
    rows = regret_over_time(searches, [1, 7, 10, 40])
    assert [mean for mean, _ in rows] == pytest.approx([1.0, 0.6, 0.4, 0.3])
