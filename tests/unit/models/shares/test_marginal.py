"""One more file at a time, or one more stream."""

import numpy as np
import pytest

from advisor.domain.shares import Served
from advisor.models.shares.forecast import Forecast
from advisor.models.shares.marginal import changes, stream_changes
from tests.unit.models.shares.made_up import LAWS, NOW_S, forecasts, truth_bps

MODELS = {name: lambda dc, sc, name=name: truth_bps(name, dc, sc) for name in LAWS}
LEVELS = {"kraken": 2, "gordon": 3, "mason": 1}
OF_STREAMS, OF_ALL_STREAMS = 0.4, -0.3


def test_one_more_brings_the_one_and_costs_the_others() -> None:
    found = {one.destination: one for one in changes(MODELS, LEVELS, "gordon")}
    assert found["gordon"].before_bps == pytest.approx(truth_bps("gordon", 3, 6))
    assert found["gordon"].after_bps == pytest.approx(truth_bps("gordon", 4, 7))
    assert found["gordon"].gain_bps > 0
    assert found["kraken"].after_bps == pytest.approx(truth_bps("kraken", 2, 7))
    assert found["kraken"].gain_bps < 0
    assert found["mason"].gain_bps < 0


def with_streams(name: str, number: int = 60) -> list[Served]:
    """Samples of a destination whose streams count less than its files."""
    rng = np.random.default_rng(5)
    found = []
    for count in range(number):
        files, others, own, theirs = (int(n) for n in rng.integers(1, 9, 4))
        total, streams = files + others, files * own + others * theirs
        rate_bps = truth_bps(name, files, total)
        rate_bps *= own**OF_STREAMS * (streams / total) ** OF_ALL_STREAMS
        found.append(
            Served(
                concurrency=files,
                source_concurrency=total,
                throughput_bps=rate_bps * float(np.exp(rng.normal(0, 0.01))),
                parallelism=own,
                source_streams=streams,
                when_s=NOW_S - 60.0 * (number - count),
            )
        )
    return found


def test_a_stream_does_what_its_own_exponent_says() -> None:
    varied = {name: Forecast(with_streams(name), NOW_S, parallelism=4) for name in LAWS}
    found = {one.destination: one for one in stream_changes(varied, LEVELS, "gordon", 4)}
    mean = (4 + 3 / 6) / 4
    grown = (5 / 4) ** OF_STREAMS * mean**OF_ALL_STREAMS
    gordon, kraken = found["gordon"], found["kraken"]
    assert gordon.after_bps / gordon.before_bps == pytest.approx(grown, rel=0.01)
    assert kraken.after_bps / kraken.before_bps == pytest.approx(mean**OF_ALL_STREAMS, rel=0.01)
    file = next(one for one in changes(varied, LEVELS, "gordon") if one.destination == "gordon")
    assert gordon.gain_bps < file.gain_bps


def test_nothing_is_said_of_streams_that_were_not_varied() -> None:
    assert stream_changes(forecasts(), LEVELS, "gordon", 8) == []
