import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.models.buffer_range import LARGEST_BYTES, SMALLEST_BYTES, SPAN, buffer_range

MIB = 2**20
rtts = st.floats(1e-6, 2)
rates = st.none() | st.floats(1e3, 1e12)
grants = st.none() | st.integers(1, 2**40)


def test_equation_11_on_a_long_fat_path() -> None:
    result = buffer_range(0.0936, 10e9, None)
    bdp = 0.0936 * 10e9 / 8
    assert result.lower_bytes < bdp < result.upper_bytes
    assert result.upper_bytes == int(4 * bdp)
    assert result.lower_bytes == int(bdp / 32)
    assert "10 Gbit/s × 93.6 ms" in result.reason


def test_without_a_bandwidth_the_default_range() -> None:
    result = buffer_range(0.05, None, None)
    assert (result.lower_bytes, result.upper_bytes) == (16 * 1024, 2**31 - 1)
    assert "not known" in result.reason


def test_on_a_lan_it_does_not_collapse() -> None:
    result = buffer_range(0.0001, 1e9, None)
    assert result.upper_bytes == 4 * MIB
    assert result.lower_bytes == 16 * 1024


def test_a_small_kernel_maximum_does_not_collapse_it() -> None:
    result = buffer_range(0.0936, 10e9, 4 * MIB)
    assert (result.lower_bytes, result.upper_bytes) == (4 * MIB // 64, 4 * MIB)
    assert "grant at most 4 MiB" in result.reason


def test_debian_s_own_maximum() -> None:
    result = buffer_range(0.0936, 10e9, 212992)
    assert (result.lower_bytes, result.upper_bytes) == (16 * 1024, 212992)


@given(rtts, rates, grants)
def test_it_stays_within_what_is_granted(
    rtt_s: float, bandwidth_bps: float | None, granted: int | None
) -> None:
    result = buffer_range(rtt_s, bandwidth_bps, granted)
    assert 1 <= result.lower_bytes <= result.upper_bytes <= LARGEST_BYTES
    assert granted is None or result.upper_bytes <= granted
    assert result.lower_bytes >= min(SMALLEST_BYTES, granted or SMALLEST_BYTES)
    assert result.reason


@given(rtts, rates, grants)
def test_its_upper_end_is_generous(
    rtt_s: float, bandwidth_bps: float | None, granted: int | None
) -> None:
    result = buffer_range(rtt_s, bandwidth_bps, granted)
    assert result.upper_bytes >= min(4 * MIB, granted or LARGEST_BYTES)


@given(rtts, rates, st.none() | st.integers(SPAN * SMALLEST_BYTES, 2**40))
def test_it_spans_a_factor_of_64(
    rtt_s: float, bandwidth_bps: float | None, granted: int | None
) -> None:
    result = buffer_range(rtt_s, bandwidth_bps, granted)
    assert result.upper_bytes / result.lower_bytes >= SPAN


@given(rtts, st.floats(1e3, 1e12), grants)
def test_it_covers_the_bdp_where_granted(
    rtt_s: float, bandwidth_bps: float, granted: int | None
) -> None:
    result = buffer_range(rtt_s, bandwidth_bps, granted)
    within = min(bandwidth_bps * rtt_s / 8, granted or LARGEST_BYTES, LARGEST_BYTES)
    assert within <= result.upper_bytes + 1


@pytest.mark.parametrize("arguments", [(0, 1e9, None), (0.1, 0, None), (0.1, None, 0)])
def test_nothing_but_positive_numbers(arguments: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match="must be above zero"):
        buffer_range(*arguments)
