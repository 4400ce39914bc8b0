"""The bench's figures from made-up results, what it does in which order, and how it watches."""

import itertools
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.domain.shares import Asked, Served, ServedRow, SharePlan, ShareRow
from advisor.models.shares.estimating import LoadEstimation
from advisor.models.shares.features import Form, Load
from advisor.models.shares.forecast import MIDDLE_S, Forecast, Modelling
from advisor.store.history import Store
from advisor.transfer.shared.prior_knowledge import known_of
from advisor.transfer.shared.session import source_name
from tests.benchmarks.shares.cases import (
    FACTOR,
    HOSTS,
    LEAST_PACKETS,
    LOADS,
    RATIO,
    RATIOS,
    REPEAT,
    TEST,
    TRAIN,
    Plan,
    asked,
    factor_cases,
    fewest_packets,
    load_sequence,
    trained_order,
)
from tests.benchmarks.shares.crossing import ABLATION, OURS, PAIRS, cross_errors, planned_errors
from tests.benchmarks.shares.document import document_text, tables
from tests.benchmarks.shares.labs import five_hosts
from tests.benchmarks.shares.loading import varying
from tests.benchmarks.shares.results import Epoch, Loaded, Results, Run, samples_of
from tests.benchmarks.shares.running import fill_store, left_s
from tests.benchmarks.shares.summary import (
    are_within,
    asked_errors_in,
    errors_of,
    feedback_errors,
    has_changed,
    is_missed,
    open_loop_errors,
    over,
    parted,
    prediction_errors,
    repeat_variations,
)
from tests.benchmarks.shares.thinning import punch
from tests.benchmarks.shares.watching import watch
from tests.benchmarks.wan.hosts import Trouble

_BEGAN_S = 1.7e9


def _row(name: str, measured_mbps: float, asked_mbps: float | None = None) -> ServedRow:
    return ServedRow(
        destination=name,
        concurrency=2,
        measured_bps=measured_mbps * 1e6,
        asked_bps=asked_mbps and asked_mbps * 1e6,
    )


def _planned(name: str, expected_mbps: float, asked: Asked, missed: str = "") -> ShareRow:
    return ShareRow(
        destination=name,
        asked=asked,
        asked_bps=expected_mbps * 1e6,
        concurrency=2,
        expected_bps=expected_mbps * 1e6,
        interval_bps=(expected_mbps * 0.8e6, expected_mbps * 1.25e6),
        samples=60,
        model_error=0.1,
        missed=missed,
    )


def _shared(*epochs: list[ServedRow], held: str = "", missed: str = "", **fields: object) -> Run:
    """One whose plan expects 100 and 50 Mbit/s of a and b."""
    wants = {name: Asked(held=2) if name == held else Asked(share=1) for name in ("a", "b")}
    made: dict[str, object] = {
        "part": RATIO,
        "case": RATIOS[0],
        "number": 0,
        "epoch_s": 16.0,
        "epochs": 4,
        "seen": [
            Epoch(when_s=_BEGAN_S + 16 * number, rows=rows) for number, rows in enumerate(epochs)
        ],
        "planned": [_planned("a", 100, wants["a"]), _planned("b", 50, wants["b"], missed)],
    }
    return Run(**(made | fields))  # type: ignore[arg-type]  # Any of its fields.


def _levels(order: Sequence[str]) -> Iterator[dict[str, int]]:
    """One destination after the other has twice as many files; the same levels come again."""
    while True:
        for baseline, name in itertools.product((2, 4, 1), order):
            yield dict.fromkeys(order, baseline)
            yield dict.fromkeys(order, baseline) | {name: 2 * baseline}


def _trained(
    part: str, number: int, began_s: float, rate: float = 1.0, hosts: int = len(HOSTS)
) -> Run:
    """Each destination's rate by what its concurrency is of all, at 300 Mbit/s or a part of it."""
    order = [name for name in trained_order(part) if name in HOSTS[:hosts]]
    seen = []
    for count, levels in enumerate(itertools.islice(_levels(order), number)):
        total = sum(levels.values())
        # Not the same at the same concurrencies: there is a load to be learnt.
        mbps = 300 * rate * (1.1 if count // 2 % 2 else 0.9)
        rows = [
            ServedRow(destination=name, concurrency=n, measured_bps=mbps * 1e6 * n / total)
            for name, n in levels.items()
        ]
        seen.append(Epoch(when_s=began_s + 16 * count, rows=rows))
    return Run(part=part, case=part, number=0, epoch_s=16.0, epochs=number, seen=seen)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "shares.jsonl")


def test_errors_are_reported_as_in_the_paper() -> None:
    found = errors_of([0.05, 0.1, 0.12, 0.15, 0.58])
    assert found is not None
    watched = [found.mean, found.median, found.below_15, found.below_10]
    assert watched == pytest.approx([0.2, 0.12, 0.6, 0.2])
    assert found.count == 5
    assert errors_of([]) is None


def test_open_loop_is_the_first_epoch_and_feedback_what_follows() -> None:
    first = [_row("a", 90, 80), _row("b", 60, 80)]
    second = [_row("a", 64, 80), _row("b", 80, 80)]
    third = [_row("a", 72, 80), _row("b", 88, 80)]
    fourth = [_row("a", 80, 80), _row("b", 80, 80)]
    run = _shared(first, second, third, fourth)
    assert prediction_errors(run) == pytest.approx([1 / 9, 1 / 6])
    assert are_within(run) == [True, True]
    assert open_loop_errors(run) == pytest.approx([0.125, 0.25])
    assert feedback_errors(run) == pytest.approx([0.2, 0, 0.1, 0.1, 0, 0])
    assert feedback_errors(_shared(first)) == []
    assert asked_errors_in(2)(run) == pytest.approx([0.1, 0.1])
    assert asked_errors_in(4)(run) == []
    assert are_within(_shared([_row("a", 79), _row("b", 62.6)])) == [False, False]


def test_who_is_held_was_asked_for_nothing_but_is_predicted() -> None:
    run = _shared([_row("a", 150, 200), _row("b", 40, 40)], held="b", part=FACTOR)
    assert open_loop_errors(run) == pytest.approx([0.25])
    assert prediction_errors(run) == pytest.approx([1 / 3, 0.25])


def test_a_factor_is_judged_after_its_base() -> None:
    base = [_row("a", 100, 150), _row("b", 40)]
    later = [
        msgspec.structs.replace(_row("a", 120, 150), expected_bps=144e6),
        msgspec.structs.replace(_row("b", 40), expected_bps=44e6),
    ]
    planned = [_planned("a", 100, Asked(factor=1.5)), _planned("b", 50, Asked(held=2))]
    run = _shared(base, later, part=FACTOR, planned=planned)
    assert prediction_errors(run) == pytest.approx([0.2, 0.1])
    assert open_loop_errors(run) == pytest.approx([0.2])
    assert are_within(run) == []


def test_runs_that_cannot_have_what_is_asked_are_counted_apart() -> None:
    good = _shared([_row("a", 100, 100), _row("b", 50, 50)])
    short = _shared([_row("a", 50, 100), _row("b", 50, 50)], missed="at most 40 Mbit/s")
    assert not is_missed(good)
    assert parted([good, short]) == ([good], [short])
    found = over([good, short], open_loop_errors)
    assert found is not None
    assert found.mean == pytest.approx(0.125)
    assert found.count == 4


def test_samples_know_what_all_had_at_that_time_and_leave_out_who_got_nothing() -> None:
    run = _shared([_row("a", 90), _row("b", 60)], [_row("a", 80), _row("b", 0)])
    samples = samples_of([run])
    assert [one.throughput_bps for one in samples["a"]] == [90e6, 80e6]
    assert samples["b"] == [
        Served(concurrency=2, source_concurrency=4, throughput_bps=60e6, when_s=_BEGAN_S)
    ]


@pytest.mark.parametrize(
    "pair", [*PAIRS, *OURS, *ABLATION], ids=lambda one: f"{one.words}-{one.estimate}"
)
def test_a_test_predicts_what_a_forecast_of_that_moment_would(pair: Modelling) -> None:
    trained = {"mason": samples_of([_trained(TRAIN, 30, _BEGAN_S)])["mason"]}
    test = samples_of([_trained(TEST, 4, _BEGAN_S + 1000, rate=0.8)])
    errors = cross_errors(trained, test, pair)
    last = test["mason"][-1]
    before = [*trained["mason"], *test["mason"][:-1]]
    forecast = Forecast(trained["mason"], last.when_s - MIDDLE_S, pair, before)
    predicted_bps = forecast(last.concurrency, last.source_concurrency)
    assert errors["mason"][-1] == pytest.approx(abs(predicted_bps / last.throughput_bps - 1))
    assert {name: len(some) for name, some in errors.items()} == {"mason": 4}


def test_a_test_does_not_know_what_it_predicts() -> None:
    trained = {"kraken": samples_of([_trained(TRAIN, 30, _BEGAN_S)])["kraken"]}
    test = samples_of([_trained(TEST, 4, _BEGAN_S + 1000, rate=0.5)])
    previous = Modelling(Form.LOG, Load.EL3, LoadEstimation.PT)
    errors = cross_errors(trained, test, previous)["kraken"]
    # The first comes as a surprise; from then on the load is known of the one before.
    assert errors[0] > 0.5
    assert max(errors[1:]) < errors[0] / 2


def test_a_plan_is_predicted_from_what_was_before_it() -> None:
    trained = _trained(TRAIN, 30, _BEGAN_S)
    alone = _shared([_row("kraken", 100)], [_row("kraken", 1)])
    later = msgspec.structs.replace(
        alone, seen=[msgspec.structs.replace(one, when_s=one.when_s + 1000) for one in alone.seen]
    )
    pair = Modelling(Form.LOG, Load.EL1, LoadEstimation.RT)
    samples = samples_of([trained, later])["kraken"]
    forecast = Forecast(samples[:30], later.seen[0].when_s, pair)
    expected = abs(forecast(2, 2) / 100e6 - 1)
    assert planned_errors([trained, later], [later], pair) == pytest.approx([expected])
    assert planned_errors([trained, alone], [alone], pair) == [], "nothing is known yet"


def test_how_much_repeats_of_the_same_levels_vary(results: Results) -> None:
    rates = ([100, 50], [110, 50], [90, 50], [100, 50])
    run = _shared(*[[_row("a", a), _row("b", b)] for a, b in rates], part=REPEAT, case="@3")
    assert repeat_variations(run) == pytest.approx({"a": 0.1, "b": 0})
    rows = [[_row(name, mbps) for name in HOSTS] for mbps in (20, 22, 18, 20)]
    results.add(_shared(*rows, part=REPEAT, case="@3"))
    shown = tables(results)
    assert "Mean 10.0 %, median 10.0 %." in " ".join(shown.split())
    assert "| Kraken | 10.0 % |" in shown


def test_the_sequence_of_loads_is_the_same_each_time_and_never_stays() -> None:
    first, again = (list(itertools.islice(load_sequence(11), 50)) for _ in range(2))
    assert first == again
    assert set(first) == set(LOADS)
    assert all(one != after for one, after in itertools.pairwise(first))


def test_the_load_varies_until_the_end_of_the_block() -> None:
    put: list[int] = []
    enough = threading.Event()

    def take(load: int) -> None:
        put.append(load)
        if len(put) == 3:
            enough.set()

    with varying(take, itertools.count(), every_s=0.01):
        assert enough.wait(10)
    count = len(put)
    time.sleep(0.05)
    assert put == list(range(count))


def test_a_load_that_cannot_be_put_is_reported_at_once() -> None:
    checks: list[int] = []

    def fail(_: int) -> None:
        raise Trouble("no lab")

    def measure() -> None:
        with varying(fail, [1], every_s=1) as check:
            for number in range(100):
                checks.append(number)
                check()
                time.sleep(0.1)

    with pytest.raises(Trouble, match="no lab"):
        measure()
    assert len(checks) < 100


def test_what_a_case_asks_of_each_destination() -> None:
    assert asked("3:2:3:4:4") == dict(zip(HOSTS, "32344", strict=True))
    assert asked("mason x1.5") == dict.fromkeys(HOSTS, "") | {"mason": "x1.5"}
    assert asked("@3") == dict.fromkeys(HOSTS, "@3")
    assert len(factor_cases()) == 2 * len(HOSTS)
    assert trained_order(TEST) == tuple(reversed(trained_order(TRAIN)))


def test_every_flow_has_enough_packets_in_flight() -> None:
    assert fewest_packets(Plan().most) >= LEAST_PACKETS


def test_a_training_runs_to_its_own_end() -> None:
    row = _row("lab:bench-wan:kraken", 12)
    seen = [ev.SharesSeen(at_s=n, epoch=n, rows=[row]) for n in (1, 2, 3)]
    ended = ev.SharesEnded(
        at_s=4, complete=True, message="measured", exit_code=0, elapsed_s=4, rows=[]
    )
    watched, trouble = watch(_saying(*seen, ended), 0, timeout_s=30, more={})
    assert (trouble, len(watched.seen)) == ("", 3)
    _, trouble = watch(_saying(*seen), 0, timeout_s=30, more={})
    assert trouble.startswith("3 epochs, then: ")


def test_what_is_in_the_results_is_not_done_again(results: Results) -> None:
    plan = Plan(runs=1, epoch_s=16.0, parts=(TRAIN, RATIO))
    assert [task.part for task in plan.tasks] == [TRAIN, *[RATIO] * len(RATIOS)]
    whole_s = left_s(plan, results)
    first, second = plan.tasks[1:3]
    results.add(_shared(case=first.case))
    results.add(_shared(case=second.case, trouble="0 epochs, then: no lab"))
    again = Results(results.file)
    assert left_s(plan, again) == pytest.approx(whole_s - first.whole_s)
    assert [again.has(task) for task in plan.tasks[:3]] == [False, True, False]


def test_a_store_has_all_that_was_measured_before(results: Results, tmp_path: Path) -> None:
    results.add(_trained(TRAIN, 12, _BEGAN_S))
    results.add(_shared([_row("kraken", 90), _row("mason", 60)]))
    results.add(_shared([_row("kraken", 70)], trouble="1 epochs, then: lost"))
    lab = five_hosts(tmp_path)
    fill_store(tmp_path / "store", lab, results)
    kraken, gordon = (lab.endpoint_of(name) for name in ("kraken", "gordon"))
    known = known_of(Store(tmp_path / "store"), source_name(), [kraken, gordon])
    assert [len(some) for some in known.samples.values()] == [13, 12]


_SAYS = """
import sys, time
for line in sys.argv[2:]:
    print(line, flush=True)
time.sleep(float(sys.argv[1]))
"""


def _saying(*events: ev.Event, stays_s: float = 0) -> list[str]:
    lines = [msgspec.json.encode(event).decode() for event in events]
    return [sys.executable, "-c", _SAYS, f"{stays_s:g}", *lines]


def test_a_command_is_ended_when_it_has_reported_enough() -> None:
    row = _planned("lab:bench-wan:kraken", 100, Asked(share=1))
    plan = SharePlan(source="s", parallelism=8, model="m", estimate="RTEC", rows=[row])
    rows = [_row("lab:bench-wan:kraken", 12.3456789, 12)]
    seen = [ev.SharesSeen(at_s=n, epoch=n, rows=rows) for n in (1, 2)]
    argv = _saying(ev.SharesPlanned(at_s=0, plan=plan), *seen, stays_s=60)
    began_s = time.monotonic()
    watched, trouble = watch(argv, 2, timeout_s=30, more={})
    assert (trouble, len(watched.seen)) == ("", 2)
    assert watched.planned[0].destination == watched.seen[0].rows[0].destination == "kraken"
    assert watched.seen[0].rows[0].measured_bps == 12345679
    assert time.monotonic() - began_s < 30, "It was not waited for its sleep."


def test_a_command_that_tells_too_little_does_not_count() -> None:
    gave_up = ev.GaveUp(at_s=1, message="too little is known of kraken", exit_code=2)
    _, trouble = watch(_saying(gave_up), 2, timeout_s=30, more={})
    assert trouble == "0 epochs, then: too little is known of kraken"
    _, trouble = watch([sys.executable, "-c", "exit('no such lab')"], 2, timeout_s=30, more={})
    assert trouble == "0 epochs, then: no such lab"


def test_a_command_that_loses_a_destination_does_not_count() -> None:
    ended = ev.DestinationEnded(
        at_s=1, destination="lab:bench-wan:mason", complete=False, message="the path was lost"
    )
    seen = ev.SharesSeen(at_s=2, epoch=1, rows=[_row("lab:bench-wan:kraken", 12)])
    watched, trouble = watch(_saying(ended, seen), 1, timeout_s=30, more={})
    assert len(watched.seen) == 1
    assert trouble == "1 epochs, then: mason: the path was lost"


def test_feedback_may_have_changed_concurrencies() -> None:
    first = [_row("a", 88, 100), _row("b", 60, 80)]
    more = [first[0], msgspec.structs.replace(first[1], concurrency=3)]
    assert has_changed(_shared(first, first, more))
    assert not has_changed(_shared(first, first))
    assert not has_changed(_shared())


def test_the_page_has_each_table_with_the_papers_figures_beside(results: Results) -> None:
    results.add(_trained(TRAIN, 12, _BEGAN_S, hosts=1))  # Kraken: each one costs a second.
    results.add(_trained(TEST, 5, _BEGAN_S + 1000, hosts=1))
    results.add(Loaded(when_s=_BEGAN_S, transfers=4, part=TRAIN, lasts_s=75))
    results.add(Loaded(when_s=_BEGAN_S + 75, transfers=16, part=RATIO, lasts_s=900))
    first = [_row("a", 88, 100), _row("b", 60, 80)]
    nearer = [_row("a", 91, 100), _row("b", 80, 80)]
    results.add(_shared(first, first, first, nearer))
    results.add(_shared(first, first, number=1, missed="at most 40 Mbit/s"))
    held = [_row("a", 100, 80), _row("b", 60, 60)]
    results.add(_shared(held, case="kraken x2", part=FACTOR, held="b"))
    results.add(_shared(case=RATIOS[3], trouble="0 epochs, then: lost"))
    text = document_text(results)
    assert "| expected, ratios | 15.2 % | 15.2 % | 50.0 % | 0.0 % | 2 |" in text
    assert "| requested, ratios, where it cannot be met | 18.5 % |" in text
    assert "| requested, ratios, with feedback | 13.8 % | 12.0 % | 66.7 % | 33.3 % | 6 |" in text
    assert "where the data support it: in 0 of 2 runs." in " ".join(text.split())
    assert "| 4 | 4.5 % | 4.5 % | 100.0 % | 100.0 % | 2 |" in text
    assert "| kraken × 2 | 2:2 | 8.3 % | 25.0 % | 0 of 1 |" in text
    assert "For 1 of 3 runs advisor reported" in " ".join(text.split())
    assert "| the paper: factors, the same | – | – | 83.6 % | 65.5 % | – |" in text
    assert "(16.8)" in text
    assert "(20.5)" not in text, "Blacklight is not in these results."
    assert "`DC^0.437 × AEL1{0.031} × 2^10.738 / SC^0.234`" in text
    assert "every 1 min 15 s in training and test, and every 15 min under" in " ".join(text.split())
    assert f"- ratio, {RATIOS[3]}: 0 epochs, then: lost" in text
    assert "**Not measured yet: the parts repeat, long.**" in " ".join(text.split())


def test_without_results_there_is_nothing_to_say(results: Results) -> None:
    with pytest.raises(Trouble, match="measure first"):
        tables(results)


def test_received_files_take_no_room(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "data"
    file.parent.mkdir()
    file.write_bytes(b"\0" * 2**20)
    before = file.stat().st_blocks
    punch(tmp_path)
    assert file.stat().st_size == 2**20
    assert file.stat().st_blocks < before / 2
    assert file.read_bytes() == b"\0" * 2**20
