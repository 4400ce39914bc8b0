"""Where earlier advice lets a transfer start, and what the transfer is compared with."""

from pathlib import Path
from typing import Any

import pytest

from advisor.domain.advice import PriorAdvice
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Pair
from advisor.domain.records import AdviceRecord
from advisor.domain.space import Setting
from advisor.domain.transfers import Levels
from advisor.methods.tuning import TunerBounds
from advisor.store.history import Store
from advisor.store.ranking import STALE_S
from advisor.testing.samples import a_path, an_advice, measured
from advisor.transfer.engine.outcome import TransferOutcome
from advisor.transfer.tuned.prior_advice import (
    advised_levels,
    fulfilment_of,
    prior_advice,
    why_not_followed,
)
from advisor.transfer.tuned.tuners import FIXED, TunerWanted, tuner_of

PAIR = Pair("dtn1", "dtn2")
NOW_S = 1.7e9
TOOL = "globus-url-copy"
FOUR_STREAMS: Setting = {"streams": 4, "buffer_bytes": 0, "congestion": "cubic"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", cache=tmp_path / "cache")


def keep(store: Store, session: str, subject: str, setting: Setting, age_s: float) -> None:
    advice = an_advice(
        PAIR,
        subject=subject,
        setting=setting,
        expected_bps=9.75e8,
        interval_bps=(9e8, 1.05e9),
        session=session,
    )
    store.append(AdviceRecord(pair=PAIR, recorded_s=NOW_S - age_s, advice=advice))


def the_prior(**changes: Any) -> PriorAdvice:
    fields: dict[str, Any] = {
        "session": "feed",
        "subject": "tcp",
        "setting": FOUR_STREAMS,
        "advised_s": NOW_S,
        "expected_bps": 9.75e8,
        "interval_bps": (9e8, 1.05e9),
    }
    return PriorAdvice(**fields | changes)


def test_advice_on_the_network_counts(store: Store) -> None:
    keep(store, "feed", "tcp", FOUR_STREAMS, age_s=0.0)
    assert prior_advice(store, PAIR, NOW_S) == the_prior()


def test_the_newest_advice_counts_and_other_tools_do_not(store: Store) -> None:
    keep(store, "older", "tcp", FOUR_STREAMS, age_s=300.0)
    keep(store, "newer", TOOL, {"concurrency": 3, "parallelism": 2}, age_s=200.0)
    keep(store, "other", "rclone", {"transfers": 8}, age_s=100.0)
    found = prior_advice(store, PAIR, NOW_S)
    assert found
    assert found.session == "newer"


@pytest.mark.parametrize(("age_s", "counts"), [(STALE_S - 60, True), (STALE_S + 60, False)])
def test_old_advice_does_not_count(store: Store, age_s: float, counts: bool) -> None:
    keep(store, "feed", "tcp", FOUR_STREAMS, age_s)
    assert (prior_advice(store, PAIR, NOW_S) is not None) == counts


def test_a_pair_without_advice_has_none(store: Store) -> None:
    keep(store, "feed", "tcp", FOUR_STREAMS, age_s=0.0)
    assert prior_advice(store, Pair("dtn1", "dtn3"), NOW_S) is None


@pytest.mark.parametrize(
    ("subject", "setting", "levels"),
    [
        ("tcp", FOUR_STREAMS, (1, 4)),
        ("tcp", {"streams": 16}, (1, 16)),
        ("tcp", {"streams": 25}, (2, 13)),
        (TOOL, {"concurrency": 3, "parallelism": 2}, (3, 2)),
    ],
)
def test_an_advised_setting_as_concurrency_and_streams(
    subject: str, setting: Setting, levels: tuple[int, int]
) -> None:
    found = advised_levels(subject, setting, 16)
    assert found
    assert (found.concurrency, found.parallelism) == levels


@pytest.mark.parametrize(
    ("subject", "setting"),
    [
        ("udt", {"block_bytes": 1456}),
        ("rclone", {"streams": 4}),
        (TOOL, {"concurrency": 2}),
        # What others may write into a shared history.
        (TOOL, {"concurrency": "4; id", "parallelism": 2}),
        (TOOL, {"concurrency": 2**70, "parallelism": 2}),
        ("tcp", {"streams": 1e300}),
        ("tcp", {"streams": 0}),
    ],
)
def test_a_setting_that_says_no_levels(subject: str, setting: Setting) -> None:
    assert advised_levels(subject, setting, 16) is None


@pytest.mark.parametrize(
    "method", ["doubling", "nelder-mead", "compass", "coordinate-descent", FIXED]
)
def test_a_transfer_starts_at_what_was_advised(method: str) -> None:
    wanted = TunerWanted(
        method=method,
        bounds=TunerBounds(concurrency=32, parallelism=16, flows=128),
        advised=Levels(concurrency=1, parallelism=4),
    )
    tuner = tuner_of(wanted, Dataset(total_bytes=10**9, files=10), a_path(), [])
    assert tuner.setting == {"concurrency": 1, "parallelism": 4}


def test_advice_that_the_tool_cannot_follow_is_a_notice() -> None:
    words = why_not_followed(the_prior(subject="udt", setting={"block_bytes": 1456}))
    assert words.startswith(f"UDT was advised, but {TOOL} moves files over TCP")
    assert why_not_followed(the_prior()) == ""
    assert why_not_followed(the_prior(subject=TOOL)) == ""
    assert why_not_followed(None) == ""


def the_outcome(**changes: Any) -> TransferOutcome:
    fields: dict[str, Any] = {
        "complete": True,
        "files": 3,
        "moved_bytes": 10**9,
        "earlier_bytes": 0,
        "elapsed_s": 8.0,
        "message": "all there",
        "missing": [],
        "missing_files": 0,
        "exit_code": 0,
    }
    return TransferOutcome(**fields | changes)


def test_the_rate_is_compared_with_the_advice() -> None:
    found = fulfilment_of(the_prior(), the_outcome())
    assert found
    assert (found.session, found.subject, found.rate_bps) == ("feed", "tcp", 1e9)
    assert found.came_true == "within"


@pytest.mark.parametrize("changes", [{"complete": False}, {"earlier_bytes": 5}])
def test_a_part_of_the_data_is_not_compared(changes: dict[str, Any]) -> None:
    assert fulfilment_of(the_prior(), the_outcome(**changes)) is None
    assert fulfilment_of(None, the_outcome()) is None


def test_streams_that_are_kept_leave_the_files_to_be_tuned() -> None:
    bounds = TunerBounds(concurrency=80, parallelism=16, flows=512, streams=8)
    wanted = TunerWanted(method="heur1", bounds=bounds)
    tuner = tuner_of(wanted, Dataset(total_bytes=10**12), a_path(), [])
    seen = []
    for _ in range(100):
        seen.append(tuner.setting)
        tuner.tell(measured(1e9 + 1e9 * int(tuner.setting["concurrency"])))
    assert {one["parallelism"] for one in seen} == {8}
    # As far up as the flows allow, a step at a time as long as one gains 5 %.
    assert [one["concurrency"] for one in seen[:5]] == [2, 3, 4, 5, 6]
    assert max(int(one["concurrency"]) for one in seen) <= 64


def test_streams_that_are_kept_need_a_method_that_does_not_choose_them() -> None:
    bounds = TunerBounds(concurrency=80, parallelism=16, flows=512, streams=8)
    with pytest.raises(ValueError, match="leave out --streams"):
        tuner_of(TunerWanted(method="harp", bounds=bounds), Dataset(total_bytes=1), a_path(), [])
    few = TunerBounds(concurrency=80, parallelism=16, flows=4, streams=8)
    with pytest.raises(ValueError, match="more than 4"):
        tuner_of(TunerWanted(method="heur1", bounds=few), Dataset(total_bytes=1), a_path(), [])
