"""Whether what is asked was ever measured."""

from advisor.domain.shares import Served
from advisor.models.shares.measured import beyond_words


def _served(concurrency: int, source_concurrency: int) -> Served:
    return Served(
        concurrency=concurrency, source_concurrency=source_concurrency, throughput_bps=1e8
    )


def test_what_was_never_measured_is_said() -> None:
    samples = {"a": [_served(2, 4), _served(5, 7)], "b": [_served(2, 4), _served(2, 7)]}
    assert beyond_words({"a": 5, "b": 2}, samples) == ""
    assert beyond_words({"a": 6, "b": 2}, samples) == (
        "Beyond what was measured: a 6 (2 to 5 measured), all 8 (4 to 7 measured)."
    )
    assert beyond_words({"a": 3, "b": 1}, samples) == (
        "Beyond what was measured: b 1 (2 measured)."
    )


def test_names_as_people_read_them() -> None:
    samples = {"lab:five:a": [_served(2, 2)]}
    found = beyond_words({"lab:five:a": 3}, samples, {"lab:five:a": "a"})
    assert found == "Beyond what was measured: a 3 (2 measured), all 3 (2 measured)."
