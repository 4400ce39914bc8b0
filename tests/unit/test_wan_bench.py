"""The bench's figures from made-up results: ratios, and the document that is made of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from advisor.domain.measurement import Interval
from advisor.models.steadiness import ProbeLength
from tests.benchmarks.wan.cases import CASES, UDT_DEFAULT, Plan, estimate_s
from tests.benchmarks.wan.document import document_text, write_document
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.inside import window
from tests.benchmarks.wan.results import (
    IPERF3,
    Again,
    Late,
    Machine,
    Results,
    Run,
    Swept,
    complete_rounds,
    key_of,
)
from tests.benchmarks.wan.running import wanted_again
from tests.benchmarks.wan.summary import spread, summarize

CASE = CASES[0]
MACHINE = Machine(
    when="2026-01-01 00:00 UTC",
    command="python -m tests.benchmarks.wan",
    quick=False,
    kernel="6.1",
    processor="Some CPU",
    cores=2,
    memory_bytes=2**33,
    load_1min=0.0,
    hosts_congestion="bbr",
    versions={"Python": "3.11"},
)
ADVISED = {"streams": 3, "buffer_bytes": 2**20, "congestion": "cubic"}
ADVISED_IN_S = 58.0


def _run(method: str, seed: int, setting: dict[str, object] | None) -> Run:
    return Run(
        case=CASE.key,
        method=method,
        seed=seed,
        transport="tcp",
        setting=setting,
        claimed_bps=9e8,
        probes=20,
        seconds=ADVISED_IN_S,
        sent_bytes=10**9,
        ended="the time is used",
    )


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Four cells; one advised seed at 0.9 of the best, and SPSA without a setting."""
    made = Results(tmp_path / "wan.jsonl")
    made.add(MACHINE)
    for repeat in (0, 1):
        for streams, bps in ((1, 5e8), (2, 9.9e8), (4, 9.8e8), (8, 2e8)):
            made.add(
                Swept(
                    case=CASE.key,
                    repeat=repeat,
                    streams=streams,
                    buffer_bytes=2**20,
                    bps=bps,
                    seconds=2.5,
                )
            )
    made.add(_run("advise", 1, ADVISED))
    made.add(_run("spsa", 1, None))
    rates = {
        key_of("tcp", ADVISED): 8.1e8,
        IPERF3: 4.5e8,
        key_of("udt", UDT_DEFAULT): 3e8,
    }
    for number in (0, 1):
        for key, (_, setting) in wanted_again(CASE, made).items():
            bps = rates.get(key, 9e8 if setting.get("streams") == 2 else 4e8)
            made.add(Again(case=CASE.key, round=number, key=key, bps=bps))
    return made


def test_a_ratio_is_to_the_best_of_the_sweep_as_measured_again(results: Results) -> None:
    summary = summarize(CASE, results)
    assert summary is not None
    assert summary.best == {"streams": 2, "buffer_bytes": 2**20, "congestion": "cubic"}
    assert summary.ratios("advise") == [pytest.approx(0.9)]
    assert summary.ratios("spsa") == [0.0]
    assert summary.ratios(IPERF3) == [pytest.approx(0.5)] * 2


def test_a_round_that_was_interrupted_does_not_count(results: Results) -> None:
    results.add(Again(case=CASE.key, round=2, key=IPERF3, bps=1.0))
    again = results.all(Again, CASE.key)
    assert set(complete_rounds(again, set(wanted_again(CASE, results)))) == {0, 1}
    assert len(complete_rounds(again, {IPERF3})) == 3


def test_a_case_without_its_last_part_has_no_summary(results: Results) -> None:
    results.add(_run("advise", 2, {"streams": 25, "buffer_bytes": 0, "congestion": "cubic"}))
    assert summarize(CASE, results) is None
    assert summarize(CASES[1], results) is None


def test_results_are_read_again_and_a_torn_line_is_cut_off(results: Results) -> None:
    with results.file.open("a") as file:
        file.write('{"type":"swept","ca')
    assert Results(results.file).lines == results.lines
    results.add(MACHINE)
    assert Results(results.file).lines == results.lines


def test_the_document_says_what_is_compared_with_the_advice(results: Results) -> None:
    summary = summarize(CASE, results)
    assert summary is not None
    late = Late(case="a", part="sweep", p99_s=0.0002, most_s=0.01)
    text = document_text([MACHINE], [summary], [late])
    assert "`sweep` on path (a), 0.2 ms" in text
    assert "| (a) 45.6 ms, clean, shallow queue | 0.90 | – | – | 0.00 |" in text
    assert "- Nothing by these rules." in text
    assert "make bench-wan" in text
    assert max(map(len, text.splitlines())) < 400


def test_the_document_says_where_the_advice_came_before_the_load(results: Results) -> None:
    summary = summarize(CASE, results)
    assert summary is not None
    texts = [
        document_text([MACHINE], [replace(summary, case=replace(CASE, load_at_s=load_at_s))], [])
        for load_at_s in (ADVISED_IN_S + 1, ADVISED_IN_S - 1)
    ]
    said = ["it advised for a path without load." in " ".join(text.split()) for text in texts]
    assert said == [True, False]


def test_document_and_figures_are_written(results: Results, tmp_path: Path) -> None:
    write_document(results, tmp_path / "docs")
    written = {str(file.relative_to(tmp_path / "docs")) for file in tmp_path.rglob("docs/**/*.*")}
    assert written == {
        "benchmarks.md",
        "benchmarks/wan-ratios.svg",
        "benchmarks/wan-costs.svg",
        "benchmarks/wan-sweep-a.svg",
    }
    with pytest.raises(Trouble, match="no case that is complete"):
        write_document(Results(tmp_path / "none.jsonl"), tmp_path)


def test_what_counts_of_a_probe_begins_where_it_is_reported() -> None:
    intervals = [Interval(n / 10, (n + 1) / 10, 0 if n < 5 else 1000) for n in range(10)]
    length = ProbeLength(
        rtt_s=0.1, floor_s=1.0, lossy_floor_s=1.0, ceiling_s=1.0, steady_s=1.0, sample_every_s=0.1
    )
    part = window(0.5)(intervals, length, lossy=True)
    assert (part.first, part.settled) == (5, True)
    assert part.throughput_bps == pytest.approx(80_000)
    assert not window(0.5)(intervals[:7], length, lossy=True).settled


def test_spread() -> None:
    assert spread([]) == "–"
    assert spread([1.0]) == "1.00"
    assert spread([1.0, 3.0, 2.0], 0) == "2 (1 to 3)"


def test_every_case_has_an_estimate() -> None:
    full, quick = Plan(seeds=5), Plan(seeds=1, quick=True)
    assert all(estimate_s(case, full) > estimate_s(case, quick) > 0 for case in CASES)
