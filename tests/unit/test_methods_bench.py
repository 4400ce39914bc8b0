"""The bench's own logic: what is held out, what bayes ships meanwhile, and the curves."""

import dataclasses
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from advisor import registry
from advisor.api.method import Knowledge
from advisor.api.values import Dataset, Parameter, Scale, Space
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell, Repeat
from advisor.backtest.replay import Replayed
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.file_classes import Size
from tests.benchmarks.methods.accuracy import validated
from tests.benchmarks.methods.baselines import FIXED, RANDOM
from tests.benchmarks.methods.curves import confidence, curves, one_peak, walk
from tests.benchmarks.methods.held_out import SCENARIOS, Scenario, run
from tests.benchmarks.methods.history import LONGEST, probes_to, scenarios, share_after, taught
from tests.benchmarks.methods.prior import derive, prior_of_bayes, shipping, without
from tests.benchmarks.methods.relaxation import Point, chosen
from tests.benchmarks.methods.searching import Searched, fixed, lead, scores_of, search
from tests.benchmarks.methods.tables import Trouble, data_folder

LEVELS = (1, 2, 4, 8, 16, 32)
NAMES = ("concurrency", "parallelism", "pipelining")
SPACE = Space(
    parameters=tuple(
        Parameter(name=name, unit="", lower=1, upper=32, scale=Scale.LOG2) for name in NAMES
    ),
    cost_order=NAMES,
)


def _table(source: str, rate_bps: Callable[[Cell], float], name: str = "one") -> RecordedTable:
    cells = list(product(LEVELS, repeat=3))
    return RecordedTable(
        name=f"{source}/{name}",
        source=source,
        space=SPACE,
        repeats={cell: [Repeat(rate_bps(cell), 10.0)] * 5 for cell in cells},
        dataset=Dataset(total_bytes=2**25 * 10, files=10),
    )


def _unlike(rate_bps: Callable[[Cell], float], count: int) -> list[RecordedTable]:
    """As many files with a table each, all of one shape give or take a tenth."""
    off = np.exp(np.random.default_rng(0).normal(0, 0.1, (count, 33, 33, 33)))

    def of_file(number: int) -> Callable[[Cell], float]:
        return lambda cell: rate_bps(cell) * float(off[number][cell])

    return [_table(f"file{n}", of_file(n)) for n in range(count)]


def _rising(cell: Cell) -> float:
    return 1e8 * cell[0]


def _falling(cell: Cell) -> float:
    return 1e10 / cell[0]


def test_the_prior_derived_is_the_tables_own_shape() -> None:
    prior = derive([_table(f"file{n}", _rising) for n in range(3)])
    # log rate = log 1e8 + ln 2 × octaves, and t covers 5 octaves from -1 to 1.
    assert prior["concurrency",][0] == pytest.approx(2.5 * np.log(2))
    others = [row[0] for term, row in prior.items() if term != ("concurrency",)]
    assert others == pytest.approx([0.0] * 8, abs=1e-9)
    assert all(deviation == pytest.approx(0.0, abs=1e-9) for _, _, deviation in prior.values())


def test_a_file_that_is_held_out_teaches_nothing() -> None:
    tables = [_table(f"file{n}", _rising) for n in range(3)]
    odd = [_table("odd", _falling, "one"), _table("odd", _falling, "two")]
    teachers = without([*tables, *odd], "odd")
    assert teachers == tables
    assert derive(teachers) == derive(tables)
    assert derive([*tables, *odd]) != derive(tables)
    for scenario in SCENARIOS:
        assert not [t for t in scenario.teachers([*tables, *odd], "odd") if t.source == "odd"]


def test_bayes_starts_from_the_prior_it_ships_meanwhile() -> None:
    def first_asked() -> object:
        method = registry.method("bayes").create(SPACE, np.random.default_rng(0), Knowledge(), {})
        setting = method.ask()
        assert setting
        return setting["concurrency"]

    before, asked_before = prior_of_bayes().PRIOR, first_asked()
    with shipping(derive(_unlike(_falling, 3))):
        assert first_asked() == 1
    assert asked_before != 1
    assert prior_of_bayes().PRIOR is before
    assert first_asked() == asked_before


def test_what_bayes_ships_is_put_back_after_a_failure() -> None:
    before = prior_of_bayes().PRIOR
    with pytest.raises(RuntimeError), shipping({}):
        raise RuntimeError
    assert prior_of_bayes().PRIOR is before


def test_every_file_is_searched_once_for_each_of_its_tables_and_seeds() -> None:
    searched = run(Scenario("prior", budget=3), _unlike(_rising, 4), seeds=2)
    assert [one.table.source for one in searched] == [f"file{n}" for n in range(4) for _ in "ab"]
    assert {one.end.probes for one in searched} == {3}


def test_each_file_is_searched_with_the_prior_of_the_others() -> None:
    # Three files fall, one rises: alone with the falling ones' prior it is started at the bottom.
    tables = [*_unlike(_falling, 3), _table("odd", _rising)]
    (odd,) = [one for one in run(Scenario("", budget=1), tables, 1) if one.table.source == "odd"]
    assert odd.end.fraction == 1 / 32


def test_only_the_files_named_are_held_out_and_only_one_teaches() -> None:
    tables = [_table(f"file{n}", _rising) for n in range(3)]
    one = Scenario("other", held_out=frozenset({"file1"}), teacher="file2")
    assert [source for source, _ in one.files(tables)] == ["file1"]
    assert [t.source for t in one.teachers(tables, "file1")] == ["file2"]


def test_a_fixed_setting_is_judged_without_a_probe() -> None:
    table = _table("a", _rising)
    globus, many = (fixed([table], setting, seeds=1)[0].end for setting in FIXED.values())
    assert (globus.fraction, globus.probes, globus.flows) == (2 / 32, 0, 16)
    assert (many.fraction, many.flows) == (1.0, 256)


def test_random_settings_differ_and_are_as_many_as_the_budget() -> None:
    ends = [one.end for one in search(RANDOM, [_table("a", _rising)], budget=2, seeds=40)]
    assert {end.probes for end in ends} == {2}
    assert {end.fraction for end in ends} == {level / 32 for level in LEVELS}


def _searched(name: str, fraction: float, flows: int = 1) -> Searched:
    end = Replayed(table=name, fraction=fraction, probes=4, elapsed_s=9.0, flows=flows)
    return Searched(_table(name, _rising), end)


def test_more_flows_than_the_best_are_counted() -> None:
    # Of _rising the first of the best cells is 32 × 1.
    cells = scores_of([_searched("a", 1.0, 32), _searched("a", 0.5, 64)])
    assert cells == ["0.750", "0.550", "50%", "4.0", "9", "48 / 32", "50%"]


def test_a_lead_is_over_the_same_tables() -> None:
    ours = [_searched("a", 0.9), _searched("b", 0.7)]
    theirs = [_searched("a", 0.8), _searched("b", 0.6)]
    assert lead(ours, theirs) == "+0.100 (+0.100 to +0.100)"


def _peak(cell: Cell) -> float:
    return 1e9 - 1e7 * abs(cell[0] - 8)


def test_a_curve_holds_all_but_one_parameter() -> None:
    found = list(curves([_table("a", _peak)], "concurrency"))
    assert len(found) == 36
    assert found[0].cells == [(level,) for level in LEVELS]
    assert found[0].setting((8,)) == {"concurrency": 8, "parallelism": 1, "pipelining": 1}
    assert found[0].best_cell == (8,)


def test_curves_with_few_repeats_or_gaps_are_left_out() -> None:
    table = _table("a", _peak)
    few = {c: r[:4] if c == (8, 1, 1) else r for c, r in table.repeats.items()}
    gap = {c: r for c, r in table.repeats.items() if c != (8, 2, 2)}
    for repeats in (few, gap):
        one = RecordedTable(name="a", source="a", space=SPACE, repeats=repeats)
        assert len(list(curves([one], "concurrency"))) == 35


def test_a_walk_over_a_peak_finds_it_and_says_what_it_took() -> None:
    found = list(curves([_table("a", _peak)], "concurrency"))
    walked = walk(found, depth=3, width=1, seeds=1)
    # 32, 16, 8, then 4 and 2 are two decreases: five of six settings, thrice each.
    assert walked.accuracy == 1.0
    assert walked.settings_share == pytest.approx(5 / 6)
    assert walked.traces_share == pytest.approx(15 / 60)
    assert walked.top == pytest.approx((1e9 - 24e7) / 1e9)
    assert walked.confidence == 1.0


def test_two_peaks_are_no_single_one() -> None:
    (curve, *_) = curves([_table("a", lambda c: 2e9 if c[0] == 1 else _rising(c))], "concurrency")
    assert not one_peak(curve)
    assert confidence(curve, 3, 1) == 0.0
    # From the top every third is 32 and 4, of which the walk sees a rise alone.
    assert confidence(curve, 3, 3) == 1.0


def test_the_data_folder_must_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ADVISOR_DATA", raising=False)
    with pytest.raises(Trouble, match="set ADVISOR_DATA"):
        data_folder()
    monkeypatch.setenv("ADVISOR_DATA", str(tmp_path))
    with pytest.raises(Trouble, match="has no gridftp-grids"):
        data_folder()


def _with_regret(*fractions: float) -> Searched:
    regret = [(9.0 * place, 1 - share) for place, share in enumerate(fractions)]
    end = Replayed(
        table="a",
        fraction=fractions[-1],
        probes=len(fractions),
        elapsed_s=9,
        flows=1,
        regret=regret,
    )
    return Searched(_table("a", _rising), end)


def test_the_pace_is_when_so_much_was_first_recommended() -> None:
    assert probes_to(_with_regret(0.5, 0.96, 0.9)) == 2
    assert probes_to(_with_regret(0.5, 0.6)) == LONGEST + 1
    assert share_after(_with_regret(0.5, 0.75), 1) == 0.5
    # A search that has ended recommends what it did at its end.
    assert share_after(_with_regret(0.5, 0.75), 8) == 0.75


def test_no_search_is_told_of_its_own_file() -> None:
    tables = [*_unlike(_rising, 2), _table("file0", _rising, "other")]
    assert len(taught(tables)(tables[0]).surfaces) == 1
    assert len(taught(tables)(tables[1]).surfaces) == 2


def test_the_scenarios_differ_in_what_they_know_alone() -> None:
    for scenario in scenarios():
        assert ("peak" in scenario.knows) == scenario.peak
        assert ("surfaces" in scenario.knows) == scenario.history
        assert scenario.knows.startswith("no prior") != scenario.prior


def _swept(rate_bps: Callable[[Cell], float], when_s: float) -> list[PastTransfer]:
    wan = Conditions(file_bytes=3e9, bandwidth_bps=10e9, rtt_s=0.04, buffer_bytes=2**25)
    noise = np.random.default_rng(0)
    return [
        PastTransfer(
            conditions=wan,
            levels=Levels(**dict(zip(NAMES, cell, strict=True))),
            throughput_bps=rate_bps(cell) * float(np.exp(0.02 * noise.standard_normal())),
            when_s=when_s,
        )
        for cell in product(LEVELS, repeat=3)
    ]


def test_validation_is_of_each_load_by_itself_and_what_has_no_surface_is_counted() -> None:
    swept = [*_swept(_falling_slowly, 0.0), *_swept(_as_it_comes, 1e6)]
    table = dataclasses.replace(_table("a", _rising), transfers=swept)
    found = validated([table], splits=4)
    (large,) = found.values()
    assert list(found) == [Size.LARGE]
    assert (large.groups, large.splits, len(large.accuracies)) == (2, 8, 4)
    assert min(large.accuracies) > 0.9


def _as_it_comes(cell: Cell) -> float:
    return 1e9 * (1 + hash(cell) % 9)


def _falling_slowly(cell: Cell) -> float:
    return 9e9 - 1e8 * cell[0] - 2e6 * cell[1] ** 2


def test_the_relaxation_is_the_least_that_costs_little() -> None:
    def points(share: float) -> list[Point]:
        return [Point("file", "table", share, 10)]

    shares = {0.7: points(0.6), 0.9: points(0.86), 0.95: points(0.89), 1.0: points(0.9)}
    assert chosen(shares) == 0.9
    assert chosen({0.7: points(0.84), 1.0: points(0.9)}) == 1.0
