"""How the time of the experiment is divided into steps, and where it writes."""

import pytest

from advisor.domain.endpoints import Endpoint
from advisor.models.shares.variation import block_length
from advisor.runtime.request import ShareRequest
from advisor.transfer.shared.training import (
    LEAST_STEP_S,
    MOST_STEP_S,
    TrainOptions,
    longest_step_s,
    scratch_parent,
)


def test_there_is_time_for_three_blocks_of_the_longest_steps() -> None:
    longest_s = longest_step_s(TrainOptions(lasts_s=600.0), 5)
    assert LEAST_STEP_S < longest_s < MOST_STEP_S
    assert longest_s * 3 * block_length(5) == pytest.approx(600.0)


def test_more_blocks_rather_than_longer_steps_than_the_papers() -> None:
    assert longest_step_s(TrainOptions(lasts_s=7200.0), 5) == MOST_STEP_S


def test_less_than_three_blocks_where_time_is_short() -> None:
    assert longest_step_s(TrainOptions(lasts_s=60.0), 5) == LEAST_STEP_S


def test_steps_that_are_asked_for() -> None:
    assert longest_step_s(TrainOptions(lasts_s=300.0, step_s=30.0), 2) == 30.0


@pytest.mark.parametrize(
    "options", [TrainOptions(lasts_s=20.0), TrainOptions(lasts_s=170.0, step_s=30.0)]
)
def test_too_short_says_how_much_is_needed(options: TrainOptions) -> None:
    least = {20.0: "24 s", 170.0: "3 min"}[options.lasts_s]
    with pytest.raises(ValueError, match=f"{least} at least"):
        longest_step_s(options, 5)


def test_it_writes_only_in_a_folder_that_was_named() -> None:
    there = Endpoint("kraken")
    named = ShareRequest(destination=there, destination_path="/scratch")
    assert scratch_parent(named) == "/scratch"
    with pytest.raises(ValueError, match="--to is missing: name a folder of kraken"):
        scratch_parent(ShareRequest(destination=there))
