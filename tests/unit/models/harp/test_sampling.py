"""When a sample is large enough."""

from advisor.models.harp.sampling import AdaptiveSample


def ended(*looks: float) -> list[float | None]:
    sample = AdaptiveSample()
    return [sample.look(bps) for bps in looks]


def test_two_looks_within_a_twentieth_end_it_with_their_mean() -> None:
    assert ended(1e9, 1.9e9, 2.0e9) == [None, None, 1.95e9]


def test_the_twentieth_is_of_the_last_look() -> None:
    assert ended(95.0, 100.0) == [None, 97.5]
    assert ended(94.9, 100.0) == [None, None]


def test_after_fifteen_seconds_the_last_two_looks_are_taken() -> None:
    assert ended(1e9, 2e9, 1e9, 2e9, 1e9) == [None, None, None, None, 1.5e9]


def test_nothing_that_flows_is_no_agreement() -> None:
    assert ended(0.0, 0.0, 0.0, 0.0) == [None] * 4


def test_what_is_known_before_the_end() -> None:
    sample = AdaptiveSample()
    assert sample.so_far == 0
    sample.look(4e9)
    assert sample.so_far == 4e9
