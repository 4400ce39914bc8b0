"""The bench's paths, what it runs on them, and its figures from made-up results."""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.truth.abreast import Capacity, run_abreast
from tests.benchmarks.truth.document import document_text, write_document
from tests.benchmarks.truth.paths import NAMED, TruthPath, path_of, random_path
from tests.benchmarks.truth.results import Advised, Done, Results, Truth
from tests.benchmarks.truth.summary import outcomes, share
from tests.benchmarks.truth.sweep import default_key, run_sweep
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Setting, key_of

FOUR: Setting = {"streams": 4, "buffer_bytes": 0, "congestion": "cubic"}
ONE: Setting = FOUR | {"streams": 1}
UDT: Setting = {"block_bytes": 1456, "buffer_bytes": 2**20, "mss_bytes": 1500}


def advised(version: str = "this", transport: str = "tcp", setting: Setting = FOUR) -> Advised:
    return Advised(
        case="r1",
        title="a path",
        version=version,
        transport=transport,
        setting=setting,
        expected_bps=9e8,
        interval_bps=(8.5e8, 9.2e8),
        gain=(9.0, 8.0, 10.0),
        probes=5,
        seconds=12.0,
        sent_bytes=10**9,
        ended=["stopped"],
    )


def truths(setting: Setting, *bps: float, transport: str = "tcp") -> list[Truth]:
    key = key_of(transport, setting)
    return [Truth(case="r1", key=key, repeat=n, bps=b) for n, b in enumerate(bps)]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    kept = Results(tmp_path / "truth.jsonl")
    for line in (
        advised(),
        advised("before", "udt", UDT),
        *truths(FOUR, 9e8, 9.4e8),
        *truths(ONE, 1e8, 1e8),
        *truths(UDT, 5e8, 5e8, transport="udt"),
        Done(case="r1", default=key_of("tcp", ONE), swept=[key_of("tcp", s) for s in (ONE, FOUR)]),
    ):
        kept.add(line)
    return kept


def test_numbers_decide_the_paths() -> None:
    assert random_path(7, 1e9) == random_path(7, 1e9)
    paths = [random_path(number, 1e9).case for number in range(1, 60)]
    assert len({path.title for path in paths}) == len(paths)
    assert all(0.0004 <= path.rtt_s <= 0.366 for path in paths)
    assert {path.congestion for path in paths} == {"cubic", "reno", "bbr"}
    assert {bool(path.load_streams) for path in paths} == {True, False}
    assert len({path.case.key for path in NAMED}) == len(NAMED)


def test_what_came_true_is_counted(results: Results) -> None:
    (ours,) = outcomes(results, "this")
    assert ours.inside == [True, False]
    assert ours.true_gain == pytest.approx(9.2)
    assert ours.gain_reached is True
    assert ours.fraction == pytest.approx(1)
    assert (ours.flows, ours.cheapest_flows) == (4, 4)
    assert ours.right_transport is True


def test_another_version_is_judged_by_the_same_runs(results: Results) -> None:
    (before,) = outcomes(results, "before")
    assert before.right_transport is False
    assert before.gain_reached is False
    assert before.fraction == pytest.approx(5e8 / 9.2e8)


def test_the_advised_default_has_no_gain_to_reach(tmp_path: Path) -> None:
    kept = Results(tmp_path / "truth.jsonl")
    for line in (
        Advised(**{**as_fields(advised(setting=ONE)), "gain": (1.0, 1.0, 1.0)}),
        *truths(ONE, 1e8, 1e8),
        Done(case="r1", default=key_of("tcp", ONE), swept=[key_of("tcp", ONE)]),
    ):
        kept.add(line)
    (outcome,) = outcomes(kept, "this")
    assert outcome.gain_reached is None
    assert share([outcome.gain_reached]) == (0, 0)


def as_fields(line: Advised) -> dict[str, object]:
    return {name: getattr(line, name) for name in line.__struct_fields__}


def test_the_page_has_both_versions(results: Results) -> None:
    text = document_text(results)
    assert "| long runs inside the 90 % interval | 1 of 2 | 0 of 2 |" in text
    assert "Number of paths: 1." in text
    assert "| a path | before | udt" in text


def test_nothing_measured_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="complete"):
        write_document(Results(tmp_path / "none.jsonl"), tmp_path / "page.md")


def test_a_resumed_path_has_the_long_runs_that_were_stored(results: Results) -> None:
    key = key_of("tcp", FOUR)
    again = Results(results.file)
    assert [again.long_run_bps("r1", key, repeat) for repeat in range(3)] == [9e8, 9.4e8, None]
    assert again.long_run_bps("r2", key, 0) is None


def test_a_path_is_known_by_its_key_and_title() -> None:
    drawn = random_path(7)
    assert path_of("r7", drawn.case.title) == drawn
    assert path_of("r7", "another version's") is None
    assert path_of("clean", NAMED[0].case.title) == NAMED[0]


def test_the_page_groups_the_paths_of_this_version(results: Results, tmp_path: Path) -> None:
    assert "By kind" not in document_text(results)
    drawn = random_path(7).case
    known = Results(tmp_path / "known.jsonl")
    for line in results.all(Truth):
        known.add(Truth(case="r7", key=line.key, repeat=line.repeat, bps=line.bps))
    known.add(Advised(**{**as_fields(advised()), "case": "r7", "title": drawn.title}))
    known.add(Done(case="r7", default=key_of("tcp", ONE), swept=[key_of("tcp", ONE)]))
    assert f"| {drawn.control} | 1 | 1 of 2 |" in document_text(known)


def ran_on(
    path: TruthPath, bps: Callable[[int], float], *advised: tuple[str, Setting]
) -> tuple[list[str], list[str]]:
    """The keys of all runs and of the sweep, where a rate follows from the number of streams."""
    ran = []

    def run(transport: str, setting: Setting) -> float:
        ran.append(key_of(transport, setting))
        return bps(int(setting.get("streams", 0)))

    return ran, run_sweep(path, advised, run)


QUIET = next(p for n in range(1, 99) if not (p := random_path(n)).case.load_streams)
LOADED = next(p for n in range(1, 99) if (p := random_path(n)).case.load_streams)


def test_a_sweep_ends_where_the_path_is_full() -> None:
    one = {"streams": 1, "buffer_bytes": 0, "congestion": QUIET.case.control}
    ran, swept = ran_on(QUIET, lambda _: QUIET.full_bps, ("tcp", one))
    assert swept == [default_key(QUIET.case)]
    assert ran == [default_key(QUIET.case)] * 2


def test_a_sweep_is_whole_where_others_may_change_the_rate() -> None:
    _, swept = ran_on(LOADED, lambda _: LOADED.full_bps)
    assert len(set(swept)) == 9


def failing_with(streams: int) -> Callable[[int], float]:
    def bps(number: int) -> float:
        if number == streams:
            raise Trouble("iperf3 took over 98 s")
        return 0.95 * LOADED.full_bps

    return bps


def test_a_setting_with_which_iperf3_does_not_end_is_left_out_of_a_sweep() -> None:
    ran, swept = ran_on(LOADED, failing_with(25))
    assert len(set(swept)) == 8
    assert set(ran) == {*swept, next(key for key in ran if "streams=25" in key)}


def test_without_its_default_or_what_was_advised_a_path_is_not_complete() -> None:
    with pytest.raises(Trouble):
        ran_on(LOADED, failing_with(1))
    many = {"streams": 25, "buffer_bytes": 0, "congestion": LOADED.case.control}
    with pytest.raises(Trouble):
        ran_on(LOADED, failing_with(25), ("tcp", many))


def test_udt_runs_where_tcp_leaves_it_room() -> None:
    ran, swept = ran_on(QUIET, lambda streams: 0.85 * QUIET.full_bps)
    assert len(swept) == 9
    assert [key for key in ran if key.startswith("udt")]
    ran, _ = ran_on(QUIET, lambda streams: 0.95 * QUIET.full_bps)
    assert not [key for key in ran if key.startswith("udt")]


def test_the_best_of_the_sweep_is_repeated_where_it_was_ahead() -> None:
    four = {"streams": 4, "buffer_bytes": 0, "congestion": QUIET.case.control}
    best = key_of("tcp", four | {"streams": 25})
    ran, _ = ran_on(QUIET, lambda streams: streams / 50 * QUIET.full_bps, ("tcp", four))
    assert ran.count(best) == 2
    ran, _ = ran_on(QUIET, lambda streams: -streams, ("tcp", four | {"streams": 1}))
    assert ran.count(best) == 1


def test_after_any_parts_all_of_the_machine_is_free_again() -> None:
    """A total of what is free is 0.9999999999999999 here, and the bench waits forever."""
    capacity, ended = Capacity(), threading.Event()
    parts = {weight: contextlib.ExitStack() for weight in (0.03, 0.06, 0.1)}
    for weight in (0.03, 0.06):
        parts[weight].enter_context(capacity.taken(weight))
    parts[0.03].close()
    parts[0.1].enter_context(capacity.taken(0.1))
    parts[0.06].close()
    parts[0.1].close()

    def all_of_it() -> None:
        with capacity.taken(1.0):
            ended.set()

    threading.Thread(target=all_of_it, daemon=True).start()
    assert ended.wait(30)


def test_works_share_the_machine_as_far_as_it_goes() -> None:
    capacity, beside, most = Capacity(), [0.0], [0.0]
    together, both_run = threading.Barrier(2, timeout=30), threading.Event()

    def work(weight: float) -> None:
        with capacity.taken(weight):
            beside[0] += weight
            most[0] = max(most[0], beside[0])
            if weight < 1:
                together.wait()
                both_run.set()
            beside[0] -= weight

    def large() -> None:
        # It would come before a small one that waits.
        both_run.wait(30)
        work(3)

    run_abreast([lambda: work(0.5), lambda: work(0.5), large], at_most=3)
    assert (beside[0], most[0]) == (0.0, 3)


def test_a_failing_work_ends_the_run() -> None:
    def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run_abreast([lambda: None, fail], at_most=1)


def test_after_a_failure_nothing_else_begins() -> None:
    third, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def fail() -> None:
        raise ValueError("broken")

    def slow() -> None:
        may_end.wait(30)
        ended.set()

    with pytest.raises(ValueError, match="broken"):
        run_abreast([slow, fail, third.set], at_most=2)
    may_end.set()
    assert ended.wait(30)
    assert not third.wait(0.2)
