"""What people type for a tuned transfer."""

import pytest

from advisor.domain.transfers import Levels
from advisor.transfer.tuned.parsing import parse_epoch, parse_price, parse_start


def test_what_people_type() -> None:
    assert parse_start("4x8") == parse_start(" 4 × 8 ") == Levels(concurrency=4, parallelism=8)
    assert parse_epoch("1min") == 60.0
    assert parse_price("2%") == parse_price("2") == 0.02
    for wrong in ("4", "0x8", "4y8", "x"):
        with pytest.raises(ValueError, match="4x8"):
            parse_start(wrong)
    with pytest.raises(ValueError, match="at least a second"):
        parse_epoch("500ms")
    for wrong in ("0", "101%", "nan"):
        with pytest.raises(ValueError, match="at most 100"):
            parse_price(wrong)
    with pytest.raises(ValueError, match="as in 2%"):
        parse_price("much")
