"""How the time of the experiment is divided into steps, and where it writes."""

import pytest

from advisor.domain.endpoints import Endpoint
from advisor.models.shares.variation import least_steps, whole_round
from advisor.runtime.request import ShareRequest
from advisor.transfer.shared.training import (
    LEAST_STEP_S,
    USUAL_STEP_S,
    TrainOptions,
    scratch_parent,
    step_of,
)


def test_a_whole_round_where_time_allows() -> None:
    step_s, count = step_of(TrainOptions(lasts_s=300.0), 5)
    assert LEAST_STEP_S < step_s < USUAL_STEP_S
    assert count == whole_round(5)


def test_more_rounds_rather_than_longer_steps() -> None:
    step_s, count = step_of(TrainOptions(lasts_s=3600.0), 5)
    assert step_s == USUAL_STEP_S
    assert count > 2 * whole_round(5)


def test_a_part_of_a_round_where_time_is_short() -> None:
    step_s, count = step_of(TrainOptions(lasts_s=60.0), 5)
    assert step_s == LEAST_STEP_S
    assert least_steps(5) <= count < whole_round(5)


def test_steps_that_are_asked_for() -> None:
    assert step_of(TrainOptions(lasts_s=300.0, step_s=30.0), 2) == (30.0, 10)


@pytest.mark.parametrize(
    "options", [TrainOptions(lasts_s=20.0), TrainOptions(lasts_s=200.0, step_s=30.0)]
)
def test_too_short_says_how_much_is_needed(options: TrainOptions) -> None:
    least = {20.0: "40 s", 200.0: "5 min"}[options.lasts_s]
    with pytest.raises(ValueError, match=f"{least} at least"):
        step_of(options, 5)


def test_it_writes_only_in_a_folder_that_was_named() -> None:
    there = Endpoint("kraken")
    named = ShareRequest(destination=there, destination_path="/scratch")
    assert scratch_parent(named) == "/scratch"
    with pytest.raises(ValueError, match="--to is missing: name a folder of kraken"):
        scratch_parent(ShareRequest(destination=there))
