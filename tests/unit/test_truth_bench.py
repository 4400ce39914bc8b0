"""The bench's paths, and its figures from made-up results."""

from pathlib import Path

import pytest

from tests.benchmarks.truth.document import document_text, write_document
from tests.benchmarks.truth.paths import NAMED, random_path
from tests.benchmarks.truth.results import Advised, Done, Results, Truth
from tests.benchmarks.truth.summary import outcomes, share
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
    paths = [random_path(number, 1e9) for number in range(1, 60)]
    assert len({path.title for path in paths}) == len(paths)
    assert all(0.0004 <= path.rtt_s <= 0.366 for path in paths)
    assert {path.congestion for path in paths} == {"cubic", "reno", "bbr"}
    assert {bool(path.load_streams) for path in paths} == {True, False}
    assert len({case.key for case in NAMED}) == len(NAMED)


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
    assert "1 advices" not in text
    assert "| a path | before | udt" in text


def test_nothing_measured_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="complete"):
        write_document(Results(tmp_path / "none.jsonl"), tmp_path / "page.md")
