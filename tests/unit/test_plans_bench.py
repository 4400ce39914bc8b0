"""The bench of plans: what is missing, what a page states, whether a search had ended."""

from pathlib import Path

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.models.file_classes import Size
from tests.benchmarks.medians import median_interval
from tests.benchmarks.plans.cases import EACH, LOADS, SECOND, Series
from tests.benchmarks.plans.document import basis_text, rates_text, series_text, write_part
from tests.benchmarks.plans.results import Moved, Ran, Results, has_settled

METHODS = ("promc", f"{EACH} pcp")
SERIES = Series(title="", file="", history_files={}, planned_files={}, methods=METHODS)
RAN = Ran(
    load="light",
    method="promc",
    number=0,
    seconds=8.0,
    sampled_s=0.0,
    total_bytes=10**9,
    levels={"tiny": (2, 1)},
)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results.jsonl")


def epochs(*concurrencies: int) -> list[ev.EpochEnded]:
    return [
        ev.EpochEnded(at_s=0.0, epoch=n, setting={"concurrency": cc}, throughput_bps=1.0)
        for n, cc in enumerate(concurrencies, 1)
    ]


def test_a_search_has_ended_where_the_last_third_has_one_setting() -> None:
    assert has_settled(epochs(1, 2, 4, 8, 8, 8))
    assert not has_settled(epochs(1, 2, 4, 4, 4, 8))
    assert not has_settled(epochs(8, 8))
    assert not has_settled(epochs(*range(10), 9, 9))
    assert not has_settled([])


def test_a_run_that_failed_is_made_again_and_one_that_did_not_is_not(results: Results) -> None:
    results.add(msgspec.structs.replace(RAN, trouble="status 1"))
    assert not results.has("light", "promc", 0)
    results.add(RAN)
    assert Results(results.file).has("light", "promc", 0)
    assert not results.has("light", "promc", 1)
    assert not results.has("heavy", "promc", 0)


def test_the_page_states_runs_history_and_ends_of_searches(results: Results) -> None:
    for number in range(3):
        results.add(msgspec.structs.replace(RAN, number=number))
    settled = {"tiny": True, "large": False}
    results.add(msgspec.structs.replace(RAN, method=METHODS[1], settled=settled))
    results.add(msgspec.structs.replace(RAN, number=3, trouble="status 1"))
    results.add(
        Moved(load="light", size=Size.TINY, concurrency=1, parallelism=1, seconds=1.0, when_s=0.0)
    )
    rows = [
        [c.strip() for c in row.split("|")[1:-1]] for row in basis_text(SERIES, results).split("\n")
    ]
    assert rows[2:] == [
        ["light", "1 to 3", "1", "1", "1 of 2"],
        ["medium", "0", "0", "0", "none searched"],
        ["heavy", "0", "0", "0", "none searched"],
    ]


def test_rates_are_medians_with_intervals_and_the_number_of_runs(results: Results) -> None:
    for number, seconds in enumerate((8.0, 10.0, 16.0)):
        results.add(msgspec.structs.replace(RAN, number=number, seconds=seconds))
    results.add(msgspec.structs.replace(RAN, load="heavy"))
    assert "| promc | 800 [500, 1000] (3 runs) | – | 1000 (1 run) |" in rates_text(SERIES, results)


def test_the_interval_of_a_median() -> None:
    assert median_interval([1.0, 5.0, 3.0]) == (1.0, 3.0, 5.0)
    low, middle, high = median_interval([float(n) for n in range(1, 101)])
    assert middle == 50.5
    assert 30 < low < 48
    assert 53 < high < 71


def test_a_page_keeps_what_is_around_a_part(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- end -->\nbetween\n<!-- b -->\n<!-- end -->\n")
    write_part(page, "a", "new")
    assert page.read_text() == (
        "before\n<!-- a -->\n\nnew\n\n<!-- end -->\nbetween\n<!-- b -->\n<!-- end -->\n"
    )
    with pytest.raises(ValueError, match="no <!-- c -->"):
        write_part(page, "c", "new")


def test_what_was_not_measured_is_called_so(results: Results) -> None:
    assert "Not measured yet" in series_text(SECOND, results)


def test_every_load_has_a_history_up_to_concurrency_32_and_ten_gigabytes_to_move() -> None:
    assert max(concurrency for concurrency, _ in SECOND.settings) == 32
    assert all(count >= 32 for count, _ in SECOND.history_files.values())
    means = (count * (least + most) / 2 for count, least, most in SECOND.planned_files.values())
    assert sum(means) >= 10e9
    assert set(LOADS) == {"light", "medium", "heavy"}
