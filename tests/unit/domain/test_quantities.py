import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.domain.quantities import (
    format_bytes,
    format_duration,
    format_rate,
    format_rates,
    parse_duration,
    parse_given_rate,
    parse_rate,
    parse_rtt,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [
        ("500Mbit", 500e6),
        ("10G", 10e9),
        ("9.4 Gbit/s", 9.4e9),
        ("100 kbps", 100e3),
        ("1Gbps", 1e9),
        ("2Mibit", 2 * 2**20),
        ("1200000", 1.2e6),
    ],
)
def test_rates(text: str, rate_bps: float) -> None:
    assert parse_rate(text) == pytest.approx(rate_bps)


@pytest.mark.parametrize(
    "text", ["abc", "", "-1G", "0", "10GB/s", "10 MB", "1e9", "nan", "inf", "5i"]
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rate|bits|zero|prefix"):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("10TB", 10**13),
        ("4MiB", 4 * 2**20),
        ("500 G", 5 * 10**11),
        ("1048576", 2**20),
        ("1b", 1),
        ("3 gbytes", 3 * 10**9),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "ten", "-5GB", "0", "0.1", "1 XB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"size"):
        parse_size(text)


@pytest.mark.parametrize("text", ["10Gb", "10gb", "4Mib", "500 kb "])
def test_bits_are_not_taken_for_bytes(text: str) -> None:
    with pytest.raises(ValueError, match="b stands for bits"):
        parse_size(text)


@pytest.mark.parametrize("text", ["10", "1200000", " 3. ", "999bit", "0.5kbit", "10GB/s", "0"])
def test_a_rate_that_users_give_has_a_unit_and_is_a_rate_of_a_network(text: str) -> None:
    with pytest.raises(ValueError, match=r"add a unit|at least 1 kbit/s|bits|above zero"):
        parse_given_rate(text)


@pytest.mark.parametrize("text", ["50", "0.05", "50m", "11s", "1h", "0"])
def test_a_round_trip_has_a_unit_and_takes_seconds_at_most(text: str) -> None:
    with pytest.raises(ValueError, match=r"add a unit|at most 10 s|above zero"):
        parse_rtt(text)


def test_rates_and_round_trips_with_units() -> None:
    assert parse_given_rate("9.4 Gbit/s") == pytest.approx(9.4e9)
    assert parse_given_rate("1k") == 1000
    assert parse_rtt("93.6ms ") == pytest.approx(0.0936)
    assert parse_rtt("10s") == 10


@pytest.mark.parametrize(
    ("text", "duration_s"),
    [
        ("60", 60),
        ("93.6ms", 0.0936),
        ("2min", 120),
        ("1.5h", 5400),
        ("30d", 2_592_000),
        ("2y", 63_072_000),
    ],
)
def test_durations(text: str, duration_s: float) -> None:
    assert parse_duration(text) == pytest.approx(duration_s)


@pytest.mark.parametrize("text", ["", "0", "0ms", "-1", "soon", "1 day"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration"):
        parse_duration(text)


@given(st.floats(min_value=1e3, max_value=1e14))
def test_a_rate_survives_being_written_to_three_figures(rate_bps: float) -> None:
    assert parse_rate(format_rate(rate_bps)) == pytest.approx(rate_bps, rel=0.01)


@given(st.integers(min_value=1, max_value=2**60))
def test_bytes_survive_being_written_to_three_figures(size_bytes: int) -> None:
    assert parse_size(format_bytes(size_bytes)) == pytest.approx(size_bytes, rel=0.01)


def test_words() -> None:
    assert format_rate(941.2e6) == "941 Mbit/s"
    assert format_rate(9.412e9) == "9.41 Gbit/s"
    assert format_rates(9.1e9, 9.6e9) == "9.10 to 9.60 Gbit/s"
    assert format_rates(940e6, 1.1e9) == "940 Mbit/s to 1.10 Gbit/s"
    assert format_bytes(4 * 2**20) == "4 MiB"
    assert format_duration(0.0936) == "93.6 ms"
    assert format_duration(125) == "2 min 5 s"
    assert format_duration(3600 * 26) == "1 d 2 h"
    assert format_duration(math.inf) == "unknown"
