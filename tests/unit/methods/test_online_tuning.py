"""HARP's online tuning: four suggestions in a row, and steps of two (2018, section 4.2)."""

import pytest

from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.space import Setting
from advisor.methods.online_tuning import Consistency, OnlineTuning
from advisor.methods.tuning import TunerBounds
from advisor.transfer.tuned.tuners import tuned_space


def levels(concurrency: int, parallelism: int = 4) -> Setting:
    return {"concurrency": concurrency, "parallelism": parallelism}


def after(present: Setting, *suggested: Setting) -> Setting:
    """The setting after these suggestions."""
    consistency = Consistency()
    for one in suggested:
        present = consistency.judge(present, one)
    return present


@pytest.mark.parametrize(
    ("suggested", "concurrency"),
    [
        ([8, 8, 8], 4),
        ([8, 8, 8, 8], 8),
        ([9, 7, 12, 10], 10),
        ([8, 8, 4, 8], 4),
        ([8, 2, 8, 8], 4),
        ([8, 8, 8, 2, 8, 8, 8], 4),
        ([2, 8, 8, 8, 8], 8),
        # The paper's example: 4 is used and 5 suggested.
        ([5, 5, 5, 5], 4),
        ([8, 8, 8, 5], 4),
        ([8, 8, 8, 6], 6),
        ([1, 2, 1, 2], 2),
        ([3, 3, 3, 3, 3, 3, 3, 3], 4),
    ],
)
def test_four_in_a_row_and_two_steps(suggested: list[int], concurrency: int) -> None:
    assert after(levels(4), *map(levels, suggested)) == levels(concurrency)


def test_each_parameter_is_judged_by_itself() -> None:
    suggested = [levels(8, p) for p in (8, 2, 8, 8)]
    assert after(levels(4, 4), *suggested) == levels(8, 4)
    assert after(levels(4, 4), *[levels(8, 1)] * 4) == levels(8, 1)
    assert after(levels(4, 4), *[levels(5, 1)] * 4) == levels(4, 1)


def test_after_a_change_it_begins_again() -> None:
    assert after(levels(4), *[levels(8)] * 4, *[levels(12)] * 3) == levels(8)
    assert after(levels(4), *[levels(8)] * 4, *[levels(12)] * 4) == levels(12)
    one_then_other = [levels(8, 2), *[levels(8, 8)] * 4]
    assert after(levels(4, 4), *one_then_other) == levels(8, 4)
    assert after(levels(4, 4), *one_then_other, *[levels(8, 8)] * 3) == levels(8, 8)


def _gave(bps: float) -> Measurement:
    return Measurement(
        throughput_bps=bps,
        stderr_bps=0.0,
        intervals=[],
        steady_from=0,
        settled=True,
        elapsed_s=30.0,
    )


def test_suggestions_stand_on_what_the_present_setting_gave() -> None:
    heard: list[tuple[Setting, float]] = []

    def suggest(setting: Setting, bps: float) -> tuple[Setting, str]:
        heard.append((setting, bps))
        return levels(8), "It stands on much."

    tuner = OnlineTuning(levels(4), suggest)
    reasons = [tuner.tell(_gave(bps)) for bps in (1e9, 2e9, 3e9, 4e9, 5e9)]
    assert heard == [(levels(4), bps) for bps in (1e9, 2e9, 3e9, 4e9)] + [(levels(8), 5e9)]
    assert reasons[:3] == ["", "", ""]
    assert reasons[3].endswith("It stands on much.")
    assert reasons[4] == ""
    assert tuner.setting == levels(8)


def test_an_epoch_without_a_byte_suggests_nothing() -> None:
    tuner = OnlineTuning(levels(4), lambda _setting, _bps: (levels(8), ""))
    failed = Failure(kind=FailureKind.TIMED_OUT, message="nothing arrived", elapsed_s=30.0)
    for one in (_gave(1e9), _gave(1e9), _gave(1e9), failed):
        tuner.tell(one)
    assert tuner.setting == levels(4)
    tuner.tell(_gave(1e9))
    assert tuner.setting == levels(8)


_REFUSED = Failure(kind=FailureKind.REJECTED_SETTING, message="too many", elapsed_s=3.0)


def test_a_setting_that_is_refused_is_left_for_good() -> None:
    heard: list[Setting] = []

    def suggest(setting: Setting, _bps: float) -> tuple[Setting, str]:
        heard.append(setting)
        return levels(8), ""

    tuner = OnlineTuning(levels(4), suggest)
    for _ in range(4):
        tuner.tell(_gave(1e9))
    assert tuner.setting == levels(8)
    assert "nothing gets through" in tuner.tell(_REFUSED)
    assert tuner.setting == levels(4)
    for _ in range(12):
        assert tuner.tell(_gave(1e9)) == ""
        assert tuner.setting == levels(4)
    assert heard == [levels(4)] * 16


def test_after_a_refusal_another_setting_takes_four_suggestions_again() -> None:
    suggested = levels(8)
    tuner = OnlineTuning(levels(4), lambda _setting, _bps: (suggested, ""))
    for _ in range(4):
        tuner.tell(_gave(1e9))
    tuner.tell(_REFUSED)
    suggested = levels(6)
    for _ in range(3):
        tuner.tell(_gave(1e9))
    assert tuner.setting == levels(4)
    tuner.tell(_gave(1e9))
    assert tuner.setting == levels(6)
    tuner.tell(_REFUSED)
    assert tuner.setting == levels(4)


def test_where_nothing_worked_yet_there_is_nothing_to_return_to() -> None:
    tuner = OnlineTuning(levels(4), lambda _setting, _bps: (levels(8), ""))
    assert tuner.tell(_REFUSED) == ""
    assert tuner.setting == levels(4)


def test_flows_are_bounded() -> None:
    space = tuned_space(TunerBounds(concurrency=32, parallelism=32, flows=40))
    tuner = OnlineTuning(levels(4, 4), lambda _setting, _bps: (levels(30, 30), ""), space.bounded)
    for _ in range(12):
        tuner.tell(_gave(1e9))
    assert tuner.setting == levels(30, 1)
