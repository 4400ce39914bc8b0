"""Whether conditions have changed at a setting that stays."""

from collections.abc import Sequence

import pytest

from advisor.methods.changing import Changing


def seen(*rates: float) -> list[bool]:
    watch = Changing()
    return [watch.sees(one) for one in rates]


@pytest.mark.parametrize(
    ("rates", "at"),
    [
        ((10, 10, 10, 4, 4), 4),
        ((10, 10, 10, 14, 14), 4),
        # The second one may be within the first three.
        ((10, 5, 5), 2),
        # Nothing arrives any more, and at last something does.
        ((10, 10, 10, 0, 0), 4),
        ((0, 0, 0, 5, 5), 4),
        # Rates that differ by a fifth have changed where they are half of that.
        ((10, 11.5, 8.2, 5, 5), 4),
    ],
)
def test_two_in_a_row_are_a_change(rates: Sequence[float], at: int) -> None:
    assert [n for n, one in enumerate(seen(*rates)) if one] == [at]


@pytest.mark.parametrize(
    "rates",
    [
        (10, 10, 10, 4, 10, 4, 10),
        # Off on both sides is noise.
        (10, 10, 10, 5, 15, 5, 15),
        # A fifth is not worth a search.
        (10, 10, 10, 8, 8, 8, 12, 12),
        (0, 0, 0, 0, 0),
        # Where the first three differ by a fifth, two that differ by a third are none,
        (10, 11.5, 8.2, 6.8, 6.8),
        # nor are two after single ones that were as far off.
        (10, 10, 10, 4, 10, 16, 10, 4, 4),
    ],
)
def test_what_is_none(rates: Sequence[float]) -> None:
    assert not any(seen(*rates))


def test_an_epoch_whose_own_rate_is_hardly_known_shows_no_change() -> None:
    watch = Changing()
    rates = [(10.0, 0.5), (10.0, 0.5), (10.0, 0.5), (5.0, 3.0), (4.0, 1.0), (4.0, 1.0)]
    assert [watch.sees(*one) for one in rates] == [False] * 5 + [True]
