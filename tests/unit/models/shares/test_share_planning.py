"""Plans: from what is asked to concurrencies, and what cannot be had."""

from statistics import geometric_mean

import pytest

from advisor.domain.shares import BASE, Asked
from advisor.models.shares.forecast import Modelling
from advisor.models.shares.planning import (
    NotToBeShared,
    measured_base_bps,
    most_together_bps,
    needs_base,
    plan,
)
from tests.unit.models.shares.made_up import LAWS, NOW_S, forecasts, served

FORECASTS = forecasts()


def planned(**asked: Asked) -> dict[str, tuple[int, str]]:
    made = plan("here", asked, FORECASTS, Modelling(), 8)
    return {row.destination: (row.concurrency, row.missed) for row in made.rows}


def test_shares_come_to_rates_that_are_in_their_ratio() -> None:
    asked = {"kraken": Asked(share=1), "gordon": Asked(share=2)}
    made = plan("here", asked, FORECASTS, Modelling(), 8)
    kraken, gordon = made.rows
    assert gordon.asked_bps == pytest.approx(2 * kraken.asked_bps)
    assert gordon.expected_bps == pytest.approx(2 * kraken.expected_bps, rel=0.2)
    assert kraken.interval_bps[0] <= kraken.expected_bps <= kraken.interval_bps[1]
    assert made.source == "here"
    assert made.model == "log with EL1"
    assert kraken.samples == 36


def test_a_factor_counts_from_the_base_case_and_the_others_stay() -> None:
    asked = {name: Asked(held=BASE) for name in LAWS} | {"gordon": Asked(factor=1.5)}
    made = plan("here", asked, FORECASTS, Modelling(), 8)
    [row] = [row for row in made.rows if row.destination == "gordon"]
    base_bps = FORECASTS["gordon"](BASE, BASE * len(LAWS))
    assert row.asked_bps == pytest.approx(1.5 * base_bps)
    assert row.expected_bps == pytest.approx(row.asked_bps, rel=0.15)
    assert [one.concurrency for one in made.rows if one is not row] == [BASE, BASE]


def test_a_factor_refers_to_what_was_measured_in_the_last_half_hour() -> None:
    every = served(36)
    base_bps = measured_base_bps(every, NOW_S, 8)
    recent = [
        one
        for one in every["gordon"]
        if (one.concurrency, one.source_concurrency) == (BASE, BASE * len(LAWS))
        and one.when_s >= NOW_S - 1800
    ]
    assert len(recent) > 1
    assert base_bps["gordon"] == pytest.approx(geometric_mean(one.throughput_bps for one in recent))
    asked = {name: Asked(held=BASE) for name in LAWS} | {"gordon": Asked(factor=1.5)}
    made = plan("here", asked, FORECASTS, Modelling(), 8, base_bps)
    [row] = [row for row in made.rows if row.destination == "gordon"]
    assert row.asked_bps == pytest.approx(1.5 * base_bps["gordon"])
    assert not any("was not measured" in note for note in made.notes)


def test_a_base_that_was_not_measured_is_said() -> None:
    assert measured_base_bps(served(36), NOW_S + 7200, 8) == {}
    assert measured_base_bps(served(36), NOW_S, 4) == {}, "of other streams"
    asked = {name: Asked(held=BASE) for name in LAWS} | {"gordon": Asked(factor=1.5)}
    made = plan("here", asked, FORECASTS, Modelling(), 8)
    assert any("What gordon gets" in note and "--run measures" in note for note in made.notes)


def test_a_base_is_measured_for_factors_within_the_limits() -> None:
    others = {"mason": Asked(held=2)}
    assert needs_base({"gordon": Asked(factor=1.5), **others})
    assert not needs_base({"gordon": Asked(share=1), **others})
    assert not needs_base({"gordon": Asked(factor=1.5, most=1), **others})


def test_a_rate_beyond_reach_says_what_can_be_had() -> None:
    found = planned(kraken=Asked(rate_bps=5e9), gordon=Asked(held=2))
    measured = max(one.concurrency for one in FORECASTS["kraken"].samples)
    assert found["kraken"][0] == min(20, 2 * measured)
    assert "at most" in found["kraken"][1]


def test_a_rate_below_what_one_file_gives_says_so() -> None:
    found = planned(mason=Asked(rate_bps=1e5), gordon=Asked(held=1))
    assert found["mason"][0] == 1
    assert "no less than" in found["mason"][1]


def test_rates_that_contradict_each_other_are_compared_with_what_was_ever_seen() -> None:
    asked = {name: Asked(rate_bps=1e9) for name in LAWS}
    made = plan("here", asked, FORECASTS, Modelling(), 8)
    assert any("3 Gbit/s" in note and "never got more" in note for note in made.notes)
    assert most_together_bps(FORECASTS) < 1e9


def test_caps_hold_files_at_a_time_and_rates() -> None:
    found = planned(gordon=Asked(share=9, most=3), kraken=Asked(share=1))
    assert found["gordon"][0] <= 3
    asked = {"gordon": Asked(rate_bps=200e6, ceiling_bps=50e6), "kraken": Asked(held=2)}
    made = plan("here", asked, FORECASTS, Modelling(), 8)
    assert made.rows[0].expected_bps <= 50e6
    assert "limited to 50 Mbit/s" in made.rows[0].missed


@pytest.mark.parametrize("asked", [{}, {"kraken": Asked(share=4)}])
def test_what_makes_no_sense_is_said(asked: dict[str, Asked]) -> None:
    with pytest.raises(NotToBeShared, match=r"nothing is requested|alone gets all"):
        plan("here", asked, FORECASTS, Modelling(), 8)


def test_a_rate_for_one_destination_alone_is_fine() -> None:
    assert planned(gordon=Asked(rate_bps=300e6))["gordon"][0] >= 1


def test_nothing_is_expected_beyond_what_a_path_carries() -> None:
    free = plan("here", {"gordon": Asked(rate_bps=5e9)}, FORECASTS, Modelling(), 8).rows[0]
    carried_bps = 0.8 * free.expected_bps
    below = FORECASTS | {"gordon": FORECASTS["gordon"].below(carried_bps)}
    asked = {"gordon": Asked(rate_bps=5e9), "kraken": Asked(held=1)}
    row = plan("here", asked, below, Modelling(), 8).rows[0]
    assert row.expected_bps <= carried_bps
    assert row.interval_bps[0] < row.expected_bps
    assert row.interval_bps[1] <= carried_bps
    assert "at most" in row.missed
    assert below["gordon"].at(NOW_S, [])(16, 16) == carried_bps, "At another time too."


def test_an_interval_ends_where_the_path_does() -> None:
    """The rate itself is below."""
    one = FORECASTS["gordon"]
    carried_bps = 1.001 * one(4, 8)
    low_bps, high_bps = one.below(carried_bps).interval_bps(4, 8)
    assert (low_bps, high_bps) == (one.interval_bps(4, 8)[0], carried_bps)
