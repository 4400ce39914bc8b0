import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest

from advisor.api.method import Constant
from advisor.api.values import AVAILABLE, Availability
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Repeat
from advisor.backtest.running import (
    FEWEST_TABLES,
    Backtest,
    Finished,
    LeftOut,
    Searched,
    best_on,
    chance,
    ranked,
    run,
)
from advisor.backtest.scores import MethodScore
from advisor.domain.measurement import Outcome
from advisor.domain.space import Parameter, Scale, Setting, Space
from advisor.methods.answering import Answer, Answers
from advisor.methods.api import Knowledge, Method

STREAMS = (1, 2, 4, 8, 16)
SPACE = Space(
    parameters=(Parameter(name="streams", unit="", lower=1, upper=16, scale=Scale.LOG2),),
    cost_order=("streams",),
)


def table(name: str, source: str = "file", *, most_bps: float = 16e6) -> RecordedTable:
    """Two streams give an eighth of what sixteen give; every probe takes 3 s."""
    return RecordedTable(
        name=name,
        source=source,
        space=SPACE,
        repeats={(n,): [Repeat(most_bps * n / 16, 3.0)] * 2 for n in STREAMS},
    )


class Fixed:
    """Measures `answers` and recommends the best; fails where the bandwidth is that table's."""

    summary = "for tests"
    constants: tuple[Constant, ...] = ()

    def __init__(self, name: str, *answers: int, fails_on: RecordedTable | None = None) -> None:
        self.name = name
        self.knowledge_seen: list[Knowledge] = []
        self.heard: list[Outcome] = []
        self._answers = answers
        self._fails_on = fails_on

    def available(self) -> Availability:
        return AVAILABLE

    def create(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> Method:
        if self._fails_on is not None and knowledge.bandwidth_bps == self._fails_on.bandwidth_bps:
            raise ZeroDivisionError("it cannot\nbe")
        self.knowledge_seen.append(knowledge)
        heard = self.heard

        class Hearing(Answers):
            def tell(self, setting: Setting, outcome: Outcome) -> None:
                heard.append(outcome)
                super().tell(setting, outcome)

        answers = [Answer(label="", setting={"streams": n}, reason="") for n in self._answers]
        return Hearing(space, rng, answers)


def backtest(
    methods: Sequence[Fixed], tables: Sequence[RecordedTable], seeds: int = 2, budget: int = 9
) -> Backtest:
    return Backtest(methods=methods, tables=tables, seeds=seeds, budget=budget)


def finished_of(settings: Backtest) -> list[Finished]:
    return [event for event in run(settings) if isinstance(event, Finished)]


def made(name: str, *medians: float, p10: float = 0.5, seconds: float = 1.0) -> Finished:
    def score(median: float) -> MethodScore:
        return MethodScore(
            median=median, p10=p10, probes=1, seconds=seconds, flows=1, within_5_percent=0
        )

    return Finished(
        method=name, score=score(float(np.median(medians))), by_table=[score(m) for m in medians]
    )


def test_a_method_is_scored_over_all_tables_and_on_each() -> None:
    (one,) = finished_of(backtest([Fixed("m", 2, 8)], [table("a"), table("b")]))
    assert (one.method, one.score.median, one.score.within_5_percent) == ("m", 0.5, 0)
    assert (one.score.probes, one.score.seconds, one.score.flows) == (2, 6, 8)
    assert [each.median for each in one.by_table] == [0.5, 0.5]
    assert one.regret == []


def test_the_budget_ends_a_search() -> None:
    (one,) = finished_of(backtest([Fixed("m", 2, 8)], [table("a")], budget=1))
    assert (one.score.probes, one.score.median) == (1, 0.125)


def test_every_search_is_told_and_counted() -> None:
    settings = backtest([Fixed("m", 2), Fixed("n", 4)], [table("a"), table("b")], seeds=3)
    searched = [event for event in run(settings) if isinstance(event, Searched)]
    assert [event.done for event in searched] == list(range(1, 13))
    assert {event.of for event in searched} == {12}
    assert [(e.method, e.table) for e in searched[::3]] == [
        ("m", "a"),
        ("m", "b"),
        ("n", "a"),
        ("n", "b"),
    ]


def test_a_method_that_fails_is_left_out_and_the_others_continue() -> None:
    bad = dataclasses.replace(table("bad"), bandwidth_bps=5.0)
    settings = backtest([Fixed("m", 2, fails_on=bad), Fixed("n", 4)], [table("a"), bad])
    events = list(run(settings))
    assert [e for e in events if isinstance(e, LeftOut)] == [LeftOut("m", "bad", "it cannot\nbe")]
    assert [e.method for e in events if isinstance(e, Finished)] == ["n"]
    last = [e for e in events if isinstance(e, Searched)][-1]
    assert last.done == last.of


def test_being_given_up_between_two_searches_is_no_failure() -> None:
    plugin = Fixed("m", 2)
    events: Iterator[object] = run(backtest([plugin], [table("a")], seeds=10_000))
    for _ in range(5):
        next(events)
    del events
    assert len(plugin.knowledge_seen) == 5


def test_nothing_is_learnt_unless_asked_for() -> None:
    plugin = Fixed("m", 2)
    finished_of(backtest([plugin], [table("a", "x"), table("b", "y")]))
    assert {known.surfaces for known in plugin.knowledge_seen} == {()}


def test_tables_of_the_same_source_are_kept_back() -> None:
    plugin = Fixed("m", 2)
    tables = [
        table("a", "x", most_bps=1e6),
        table("b", "x", most_bps=2e6),
        table("c", "y", most_bps=3e6),
    ]
    finished_of(
        Backtest(methods=[plugin], tables=tables, seeds=2, budget=9, learn_from_others=True)
    )
    learnt = [sorted(max(s.rates_bps) for s in known.surfaces) for known in plugin.knowledge_seen]
    assert learnt == [[3e6], [3e6], [3e6], [3e6], [1e6, 2e6], [1e6, 2e6]]
    # What a method works out of it once holds for the next seed.
    assert plugin.knowledge_seen[0] is plugin.knowledge_seen[1]


def test_drift_answers_in_the_order_of_time() -> None:
    plugin = Fixed("m", 1, 1, 1)
    drifting = RecordedTable(
        name="t",
        source="s",
        space=SPACE,
        repeats={(1,): [Repeat(5e6, 1.0), Repeat(7e6, 1.0)]},
    )
    finished_of(Backtest(methods=[plugin], tables=[drifting], seeds=3, budget=9, in_order=True))
    rates = [getattr(outcome, "throughput_bps", None) for outcome in plugin.heard]
    assert rates == [5e6, 7e6, 5e6] * 3


def test_regret_falls_from_all_to_what_is_left() -> None:
    settings = Backtest(
        methods=[Fixed("m", 2, 8)], tables=[table("a")], seeds=2, budget=9, with_regret=True
    )
    (one,) = finished_of(settings)
    before = {regret for time_s, regret in one.regret if time_s < 3}
    between = {regret for time_s, regret in one.regret if 3 < time_s < 6}
    after = {regret for time_s, regret in one.regret if time_s > 6}
    assert (before, between, after) == ({1.0}, {0.875}, {0.5})


def test_ranked_by_median_then_p10_then_time() -> None:
    order = [
        made("better", 0.9),
        made("steadier", 0.801, p10=0.7),
        made("quicker", 0.799, p10=0.6),
        made("slower", 0.804, p10=0.6, seconds=2),
        made("worse", 0.1, p10=0.9),
    ]
    assert [one.method for one in ranked(order[::-1])] == [one.method for one in order]


def test_the_best_on_one_table() -> None:
    methods = [made("m", 0.9, 0.2), made("n", 0.3, 0.8)]
    assert [best_on(methods, place).method for place in (0, 1)] == ["m", "n"]


@pytest.mark.parametrize(("tables", "exact"), [(4, 2 / 2**4), (FEWEST_TABLES, 2 / 2**5)])
def test_ahead_on_every_table_by_chance(tables: int, exact: float) -> None:
    """All signs alike, as the first two of 2ⁿ equally likely throws."""
    ahead = made("m", *(0.9 - 0.01 * i for i in range(tables)))
    behind = made("n", *(0.5 - 0.02 * i for i in range(tables)))
    assert chance(ahead, behind) == pytest.approx(exact)
    assert chance(behind, ahead) == 1


def test_alike_is_chance() -> None:
    assert chance(made("m", *[0.5] * 6), made("n", *[0.5] * 6)) == 1
