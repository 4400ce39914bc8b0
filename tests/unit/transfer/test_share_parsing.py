"""What people type for a share."""

import pytest

from advisor.domain.endpoints import Endpoint
from advisor.domain.shares import BASE, Asked
from advisor.transfer.shared.parsing import parse_asked, parse_destination, with_cap


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("4", Asked(share=4)),
        ("0.5", Asked(share=0.5)),
        ("400Mbit", Asked(rate_bps=400e6)),
        ("x1.5", Asked(factor=1.5)),
        ("1.5x", Asked(factor=1.5)),
        ("×2", Asked(factor=2)),
        ("@3", Asked(held=3)),
        (" 4 ", Asked(share=4)),
    ],
)
def test_what_is_asked(text: str, asked: Asked) -> None:
    assert parse_asked(text) == asked


@pytest.mark.parametrize(
    "text", ["", "-1", "0", "x", "x0", "xnan", "@0", "@999", "4x4", "1.2.3", "fast", "-5Mbit"]
)
def test_nonsense_is_told_how_to_write_it(text: str) -> None:
    with pytest.raises(ValueError, match="write a share as in 4"):
        parse_asked(text)


def test_a_destination_and_what_is_asked() -> None:
    assert parse_destination("me@kraken=4") == (Endpoint("kraken", "me"), Asked(share=4))
    assert parse_destination("lab:five:mason=x2") == (Endpoint("lab:five:mason"), Asked(factor=2))
    assert parse_destination("kraken") == (Endpoint("kraken"), Asked(held=BASE))


def test_caps() -> None:
    assert with_cap(Asked(share=1), "8") == Asked(share=1, most=8)
    assert with_cap(Asked(share=1), "300Mbit") == Asked(share=1, ceiling_bps=300e6)
    with pytest.raises(ValueError, match="1 to 128"):
        with_cap(Asked(share=1), "0")


def test_words() -> None:
    words = [parse_asked(text).words for text in ("4", "400Mbit", "x1.5", "@3")]
    assert words == ["share 4", "400 Mbit/s", "× 1.5", "held at 3"]
