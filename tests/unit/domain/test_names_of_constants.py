"""Constants as they are typed."""

import pytest

from advisor.domain.names import parse_constants


def test_several_are_separated_by_commas() -> None:
    assert parse_constants("a=15, alpha=0.6") == {"a": 15.0, "alpha": 0.6}


@pytest.mark.parametrize("text", ["", "a", "a=", "=1", "a=1,,b=2", "a=x", "a b=1"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"NAME=NUMBER|not a number"):
        parse_constants(text)
