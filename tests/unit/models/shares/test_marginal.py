"""One more file at a time, or one more stream."""

import pytest

from advisor.models.shares.marginal import changes
from tests.unit.models.shares.made_up import LAWS, truth_bps

MODELS = {name: lambda dc, sc, name=name: truth_bps(name, dc, sc) for name in LAWS}
LEVELS = {"kraken": 2, "gordon": 3, "mason": 1}


def test_one_more_brings_the_one_and_costs_the_others() -> None:
    found = {one.destination: one for one in changes(MODELS, LEVELS, "gordon")}
    assert found["gordon"].before_bps == pytest.approx(truth_bps("gordon", 3, 6))
    assert found["gordon"].after_bps == pytest.approx(truth_bps("gordon", 4, 7))
    assert found["gordon"].gain_bps > 0
    assert found["kraken"].after_bps == pytest.approx(truth_bps("kraken", 2, 7))
    assert found["kraken"].gain_bps < 0
    assert found["mason"].gain_bps < 0


def test_a_stream_is_a_part_of_a_file() -> None:
    whole = changes(MODELS, LEVELS, "gordon")
    stream = changes(MODELS, LEVELS, "gordon", by=3 / 8)
    for one, other in zip(whole, stream, strict=True):
        assert 0 < other.gain_bps / one.gain_bps < 1
