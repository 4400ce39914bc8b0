"""The bench's figures from made-up results, what it does in which order, and how it watches."""

import sys
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind
from advisor.methods.api import Knowledge
from advisor.methods.tuning import TunerBounds
from advisor.transfer.tuned.tuners import tuned_space
from tests.benchmarks.transfers.alternating.methods.alternating import plugin
from tests.benchmarks.transfers.basis import basis_text, has_ended
from tests.benchmarks.transfers.cases import (
    ALTERNATING,
    BEST,
    CHANGING,
    COMPUTE,
    CONDITIONS,
    CONDITIONS_PART,
    DEFAULT,
    FIGURE_1_PART,
    NONE,
    PAIR,
    PAIR_PART,
    PLAIN,
    PRICE,
    RETUNED,
    RETUNING_PART,
    SWEPT,
    Load,
    Plan,
    Task,
    option_words,
)
from tests.benchmarks.transfers.document import document_text, tables, write_document
from tests.benchmarks.transfers.results import Change, Flow, Look, Results, Run, Swept
from tests.benchmarks.transfers.running import left_s
from tests.benchmarks.transfers.summary import (
    best_setting,
    jains_index,
    last_setting,
    lost_share,
    mean_flows,
    rate_bps,
    readapted_s,
    stored_at,
)
from tests.benchmarks.transfers.watching import Reported, Watch, stored_bytes
from tests.benchmarks.wan.hosts import Trouble


def _looks(*rates_bps: float) -> list[Look]:
    """A look each second, of what arrives at these rates."""
    looks = [Look(0.0, 0)]
    for rate in rates_bps:
        looks.append(Look(looks[-1].at_s + 1, looks[-1].stored_bytes + round(rate / 8)))
    return looks


def _run(contestant: str, looks: list[Look], **fields: object) -> Run:
    made: dict[str, object] = {
        "part": CONDITIONS_PART,
        "condition": COMPUTE,
        "contestant": contestant,
        "number": 0,
        "seconds": 90.0,
        "epoch_s": 4.0,
        "looks": looks,
    }
    return Run(**(made | fields))  # type: ignore[arg-type]  # Any of its fields.


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "transfers.jsonl")


def test_a_rate_is_what_arrived_between_two_times() -> None:
    looks = _looks(8e6, 16e6, 16e6, 24e6)
    assert stored_at(looks, 1.5) == pytest.approx(2e6)
    assert rate_bps(looks) == pytest.approx(16e6)
    assert rate_bps(looks, 1.0, 3.0) == pytest.approx(16e6)
    assert rate_bps(looks, 3.0) == pytest.approx(24e6)
    assert rate_bps([]) == 0
    assert rate_bps(looks, 4.0) == 0


def test_the_best_setting_is_that_of_the_greatest_mean_of_those_in_all_sweeps() -> None:
    first = {"2x8": 90.0, "8x8": 300.0, "32x1": 310.0}
    assert best_setting([first]) == "32x1"
    assert best_setting([first, {"2x8": 200.0, "8x8": 350.0}]) == "8x8"


def test_it_has_settled_when_the_mean_of_three_epochs_is_near_that_of_the_end() -> None:
    # Twelve seconds of nothing new, then all at once: 11 of 12 s have to be of the new rate.
    run = _run("compass", _looks(*[1e8] * 20, *[1e8] * 12, *[4e8] * 48), turned_s=20.0)
    assert readapted_s(run) == pytest.approx(12 + 11)
    at_once = _run("compass", _looks(*[1e8] * 20, *[4e8] * 60), turned_s=20.0)
    assert readapted_s(at_once) == pytest.approx(12)
    assert readapted_s(_run("compass", _looks(*[1e8] * 80))) is None


def test_what_is_worse_at_its_end_than_ever_before_has_settled_and_a_late_change_has_not() -> None:
    falling = _run("compass", _looks(*[4e8] * 60, *[1e8] * 20), turned_s=20.0)
    assert readapted_s(falling) == pytest.approx(12)
    late = _run("compass", _looks(*[4e8] * 80), turned_s=75.0)
    assert readapted_s(late) is None


def test_the_page_says_on_how_many_runs_it_rests_and_whether_searches_had_ended(
    results: Results,
) -> None:
    assert basis_text(results) == ""
    early, late = [Change(50.0, 5, 4, 4)], [Change(50.0, 5, 4, 4), Change(70.0, 7, 8, 4)]
    results.add(_run(DEFAULT, _looks(*[1e8] * 90)))
    results.add(_run("compass", _looks(*[1e8] * 90), changes=early))
    results.add(_run("compass", _looks(*[1e8] * 90), changes=late, number=1))
    assert [has_ended(run) for run in results.runs(CONDITIONS_PART, COMPUTE, "compass")] == [
        True,
        False,
    ]
    rows = {line.split(" | ")[0]: line for line in basis_text(results).splitlines()}
    measured = rows["| ext.tfr=0 ext.cmp=64"]
    assert "| 1 to 2 | 1 of 2 | plain, best, coordinate-descent, nelder-mead, " in measured
    assert "compass," not in measured
    assert rows["| ext.tfr=64 ext.cmp=0"].endswith("| – | – | all |")


def test_shares_and_fairness() -> None:
    assert lost_share(98.0, 100.0) == pytest.approx(0.02)
    assert lost_share(102.0, 100.0) == pytest.approx(-0.02)
    assert lost_share(None, 100.0) is None
    assert lost_share(98.0, 0.0) is None
    assert jains_index([5.0, 5.0]) == pytest.approx(1.0)
    assert jains_index([10.0, 0.0]) == pytest.approx(0.5)
    assert jains_index([3.0, 1.0]) == pytest.approx(16 / 20)
    assert jains_index([0.0, 0.0]) == 0


def test_flows_are_clients_times_streams_from_a_time_on() -> None:
    flows = [Flow(1.0, 2, 8), Flow(2.0, 32, 1), Flow(3.0, 32, 2)]
    assert mean_flows(flows, 2.0) == pytest.approx(48)
    assert mean_flows([]) == 0
    assert last_setting(_run("compass", [], changes=[Change(4.0, 1, 10, 8)])) == "10 × 8"
    assert last_setting(_run("compass", [])) == ""


def test_a_contestant_is_some_options() -> None:
    assert option_words(DEFAULT) == ["--method", "fixed", "--start", "2x8"]
    assert option_words(BEST, "32x1") == ["--method", "fixed", "--start", "32x1"]
    assert option_words("8x2") == ["--method", "fixed", "--start", "8x2"]
    assert option_words("compass-restarting") == ["--method", "compass", "--restart-epochs"]
    assert option_words("compass-nc") == ["--method", "compass", "--streams", "8"]
    assert option_words("doubling-decided") == ["--method", "doubling"]
    assert option_words("default-restarting")[2:] == ["--start", "2x8", "--restart-epochs"]


def test_the_whole_has_the_papers_loads_epochs_and_runs() -> None:
    plan = Plan()
    loads = {load for one in CONDITIONS.values() for load in one.loads if len(one.loads) == 1}
    paper = {Load(), Load(compute=16), Load(compute=64), Load(transfers=16), Load(transfers=64)}
    assert loads == paper
    under_load = [task for task in plan.tasks if task.part == CONDITIONS_PART]
    assert max(task.number for task in under_load) == 2
    long = {task.seconds for task in under_load if task.contestant != "default-restarting"}
    assert min(long) >= 60 * plan.epoch_s
    assert len(set(plan.tasks)) == len(plan.tasks)
    for condition in CONDITIONS:
        assert Task(CONDITIONS_PART, condition, DEFAULT, 0, plan.seconds) in plan.tasks
    left_out = {"coordinate-descent", "default-restarting", "nelder-mead-nc"}
    assert not [t for t in plan.tasks if t.condition == CHANGING and t.contestant in left_out]


def test_what_is_there_is_not_done_again(results: Results) -> None:
    plan = Plan(
        conditions=(NONE,), methods=(DEFAULT, BEST), parts=(CONDITIONS_PART,), runs=1, seconds=90.0
    )
    assert left_s(plan, results) == pytest.approx(plan.estimate_s)
    default, best = plan.tasks
    results.add(_run(DEFAULT, _looks(1e8), condition=NONE, trouble="it fell over"))
    assert not results.has(default, plan.epoch_s)
    results.add(_run(DEFAULT, _looks(1e8), condition=NONE))
    assert results.has(default, plan.epoch_s)
    assert not results.has(default, 30.0)
    assert not results.has(best, plan.epoch_s)
    for setting in SWEPT:
        results.add(Swept(load=Load().key, setting=setting, seconds=plan.sweep_s, bps=1e8))
    assert left_s(plan, results) == pytest.approx(best.whole_s)


def test_results_resume_where_a_killed_run_left_them(results: Results) -> None:
    results.add(_run(DEFAULT, _looks(1e8, 2e8), flows=[Flow(1.0, 2, 8)]))
    with results.file.open("ab") as file:
        file.write(b'{"type":"run","part":"cond')
    again = Results(results.file)
    assert again.lines == results.lines
    again.add(Swept(load=Load().key, setting="2x8", seconds=12.0, bps=1e8))
    assert Results(results.file).swept(Load(), 12.0) == {"2x8": 1e8}
    assert Results(results.file).swept(Load(), 20.0) == {}


def test_without_results_no_page_is_written(results: Results, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    with pytest.raises(Trouble, match="no transfer"):
        write_document(results, page)
    results.add(_run(DEFAULT, [], trouble="it fell over"))
    with pytest.raises(Trouble, match="no transfer"):
        write_document(results, page)
    assert not page.exists()


def test_the_tables_say_how_many_times_the_default_was_moved(results: Results) -> None:
    results.add(_run(DEFAULT, _looks(*[1e8] * 20)))
    reported = {"changes": [Change(4.0, 1, 10, 8)], "flows": [Flow(15.0, 10, 8)]}
    results.add(_run("compass", _looks(*[1e8] * 10, *[3e8] * 10), **reported))
    results.add(_run(PLAIN, _looks(*[1e8] * 20)))
    rows = tables(results).splitlines()
    assert "| compass | 1 | 477 MiB in 20 s | 200 | 2.00 | 300 | 3.00 | 80 | 10 × 8 |" in rows
    [plain] = [row for row in rows if row.startswith("| `globus-url-copy")]
    assert plain.endswith("| 100 | 1.00 | – | 2 × 8 |"), "it tells no flows"
    assert "10 × the default" in document_text(results)


def test_a_restarting_run_is_compared_with_the_same_time_of_one_that_is_not(
    results: Results,
) -> None:
    # The other ran for as long again, at a rate that must not count; nor may its start count.
    results.add(_run(DEFAULT, _looks(*[5e8] * 8, *[1e8] * 12, *[9e8] * 20)))
    results.add(_run("default-restarting", _looks(*[0.0] * 8, *[0.8e8] * 12), seconds=60.0))
    assert "| default | 100 | 80 | 20.0 % | 50 % |" in tables(results)


def test_before_and_after_a_change_are_compared_with_the_default_by_themselves(
    results: Results,
) -> None:
    for contestant, before, after in ((DEFAULT, 1e8, 1e8), ("nelder-mead", 2e8, 3e8)):
        looks = _looks(*[before] * 20, *[after] * 40)
        results.add(_run(contestant, looks, condition=CHANGING, turned_s=20.0))
    row = next(line for line in tables(results).splitlines() if line.startswith("| nelder"))
    assert [cell.strip() for cell in row.split("|")][4:8] == ["200", "2.00", "300", "3.00"]


def test_changes_are_compared_with_both_settings_by_the_length_of_epochs(results: Results) -> None:
    of_part = {"part": RETUNING_PART, "condition": NONE}
    rates = {PLAIN: 4e8, DEFAULT: 3.96e8, RETUNED[0]: 4e8, RETUNED[1]: 3e8, ALTERNATING: 3.43e8}
    for name, rate in rates.items():
        assert "The cost of a change" not in (tables(results) if results.lines else "")
        results.add(_run(name, _looks(*[0.0] * 8, *[rate] * 20), **of_part))
    for name, rate in (rates | {DEFAULT: 4e8, ALTERNATING: 3.5e8}).items():
        results.add(_run(name, _looks(*[0.0] * 20, *[rate] * 20), **of_part, epoch_s=10.0))
    costs = tables(results).partition("## The cost of a change")[2].splitlines()
    rows = [line for line in costs if " % of " in line]
    assert [(row.split(" | ")[0], row.split(" | ")[2].split(" %")[0]) for row in rows] == [
        ("| 4 s", "1.0"),
        ("| 4 s", "2.0"),
        ("| 10 s", "0.0"),
        ("| 10 s", "0.0"),
    ]


def test_two_at_once_are_shown_where_both_are_there(results: Results) -> None:
    for price, rates in (("", (3e8, 1e8)), (PRICE, (2e8, 2e8))):
        for host, rate in zip(PAIR, rates, strict=True):
            fields = {"part": PAIR_PART, "condition": NONE, "host": host}
            flows = [Flow(9.0, 4, 8)]
            results.add(_run(price, _looks(*[rate] * 10), flows=flows, **fields))
    results.add(_run("", _looks(1e8), part=PAIR_PART, condition=NONE, host="texas", number=1))
    lines = [line for line in tables(results).splitlines() if "price" in line and "|" in line]
    assert lines == [
        "| no price | 300 (75.0 %) | 100 (25.0 %) | 400 | 32 and 32 | 0.80 |",
        "| `--price 1%` | 200 (50.0 %) | 200 (50.0 %) | 400 | 32 and 32 | 1.00 |",
    ]


def test_several_runs_are_a_median_with_the_least_and_the_most(results: Results) -> None:
    for number, rate in enumerate((1e8, 3e8, 2e8)):
        results.add(_run(DEFAULT, _looks(*[rate] * 20), number=number))
    text = document_text(results)
    assert "| default | 3 | 477 MiB in 20 s | 200 (100 to 300) | 1.00 |" in text
    assert "22 epochs; the paper's have 60 of 30 s. 3 run(s) of each" in " ".join(text.split())


def test_figure_1_names_the_best_concurrency(results: Results) -> None:
    for setting, rate in (("1x1", 1e8), ("8x1", 3e8), ("64x1", 2e8)):
        fields = {"part": FIGURE_1_PART, "condition": "figure-1a", "seconds": 12.0}
        results.add(_run(setting, _looks(*[rate] * 12), **fields))
    [row] = [line for line in tables(results).splitlines() if line.startswith("| ext.tfr=0")]
    assert row == "| ext.tfr=0 ext.cmp=0 | 100 | – | – | 300 | – | – | 200 | 8 | 64 |"


def test_figure_6_counts_the_files_of_the_last_quarter(results: Results) -> None:
    for number, clients in enumerate((48, 52, 60)):
        flows = [Flow(10.0, 2, 8), Flow(80.0, clients, 8)]
        results.add(_run("compass-nc", _looks(*[1e8] * 90), flows=flows, number=number))
        results.add(_run(DEFAULT, _looks(*[1e8] * 90), number=number))
    figure = tables(results).partition("## Figure 6")[2]
    assert "| ext.tfr=0 ext.cmp=64 | – | 52 (48 to 60) | – | 80 |" in figure


def test_figure_10_holds_the_heuristics_against_the_default(results: Results) -> None:
    for contestant, rate in ((DEFAULT, 1e8), ("heur1", 1.5e8), ("heur2", 4e8)):
        results.add(_run(contestant, _looks(*[rate] * 20)))
    figure = tables(results).partition("## Figure 10")[2]
    assert "| ext.tfr=0 ext.cmp=64 | – | 1.50 | 4.00 |" in figure


@pytest.mark.parametrize(
    ("rates", "words"),
    [((3e8, 1e8), "as in the paper"), ((1e8, 3e8), "the reverse of the paper's")],
)
def test_figure_11_says_which_has_more(
    results: Results, rates: tuple[float, float], words: str
) -> None:
    for host, rate in zip(PAIR, rates, strict=True):
        fields = {"part": PAIR_PART, "condition": NONE, "host": host}
        results.add(_run("", _looks(*[rate] * 10), **fields))
    assert words in tables(results).partition("## Figure 11")[2]


def test_the_alternating_method_goes_to_and_fro() -> None:
    space = tuned_space(TunerBounds(concurrency=32, parallelism=16))
    method = plugin.create(space, np.random.default_rng(1), Knowledge(), {})
    asked = []
    for _ in range(4):
        setting = method.ask()
        assert setting is not None
        asked.append(f"{setting['concurrency']}x{setting['parallelism']}")
        failure = Failure(kind=FailureKind.TIMED_OUT, message="", elapsed_s=4.0)
        method.tell(setting, failure)
    assert asked == [*RETUNED, *RETUNED]
    assert method.stop_reason is None


_PROGRAM = """
import signal, sys, time
from pathlib import Path
target = Path(sys.argv[1])
target.mkdir()
for line in sys.argv[2:]:
    print(line, flush=True)
(target / "0.dat").write_bytes(b"x" * 65536)
with (target / "1.dat").open("wb") as file:
    file.truncate(2**30)
try:
    time.sleep(60)
except KeyboardInterrupt:
    print(sys.argv[-1], flush=True)
"""


def _event(event: ev.Event) -> str:
    return msgspec.json.encode(event).decode()


def _started() -> ev.TransferStarted:
    return ev.TransferStarted(
        at_s=2.0,
        session="s",
        pair=Pair("source", "far"),
        method="fixed",
        setting={"concurrency": 2, "parallelism": 8},
        epoch_s=4.0,
        files=8,
        total_bytes=10**9,
    )


def test_a_transfer_is_watched_for_its_time_and_ended(tmp_path: Path) -> None:
    target, turned = tmp_path / "arrived", []
    changed = ev.SettingChanged(
        at_s=6.5,
        epoch=1,
        old={"concurrency": 2, "parallelism": 8},
        new={"concurrency": 10, "parallelism": 8},
        throughput_bps=1e8,
        reason="",
    )
    lines = [_event(_started()), _event(changed)]
    argv = [sys.executable, "-c", _PROGRAM, str(target), *lines]
    seen = Watch(argv, target, 2.0, more={}, turn=(0.5, lambda: turned.append(True))).run()
    assert seen.trouble == ""
    assert seen.reported.changes[0] == Change(4.5, 1, 10, 8)
    # What it said as it was ended was heard too.
    assert len(seen.reported.changes) == 2
    # Holes in files are nothing that arrived.
    assert seen.looks[-1].stored_bytes == 65536
    assert seen.looks[-1].at_s >= 2.0
    assert turned == [True]
    assert seen.turned_s is not None


def test_a_transfer_that_ends_by_itself_does_not_count(tmp_path: Path) -> None:
    gave_up = ev.GaveUp(at_s=1.0, message="no server", exit_code=3)
    program = "import sys; print(sys.argv[1], flush=True)"
    argv = [sys.executable, "-c", program, _event(gave_up)]
    assert Watch(argv, tmp_path, 2.0, more={}).run().trouble == "no server"
    argv = [sys.executable, "-c", "import sys; sys.exit('no such option')"]
    assert Watch(argv, tmp_path, 2.0, more={}).run().trouble == "no such option"


def test_one_that_prints_no_events_counts_from_its_start(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import time; print('hello', flush=True); time.sleep(60)"]
    began_s = time.monotonic()
    seen = Watch(argv, tmp_path, 1.0, more={}, prints_events=False).run()
    assert seen.trouble == ""
    assert seen.looks[0] == Look(0.0, 0)
    assert time.monotonic() - began_s >= 1.0
    assert stored_bytes(tmp_path / "nowhere") == 0


def test_what_was_said_before_the_start_has_no_time() -> None:
    reported = Reported()
    reported.take(_started())
    assert reported.began_at_s == 2.0
    assert reported.began_s is not None
