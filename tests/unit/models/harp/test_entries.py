"""Past transfers in columns."""

import math

import msgspec
import numpy as np
import pytest

from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.file_classes import Size, size_of
from advisor.models.harp.entries import Archive, History, features_of
from tests.unit.models.harp.worlds import LAN, WAN, hill, sweep

LEVELS = Levels(concurrency=2, parallelism=3, pipelining=4)


def test_every_figure_comes_to_its_column() -> None:
    entries = [
        PastTransfer(conditions=WAN, levels=LEVELS, throughput_bps=1e9, when_s=5.0),
        PastTransfer(conditions=LAN, levels=LEVELS, throughput_bps=2e9),
    ]
    history = History.of(entries)
    assert len(history) == 2
    assert history.levels.tolist() == [[2, 3, 4], [2, 3, 4]]
    assert history.throughput_bps.tolist() == [1e9, 2e9]
    assert history.when_s[0] == 5
    assert math.isnan(history.when_s[1])
    assert [history.networks[code] for code in history.network] == ["wan", "lan"]
    bdp_bytes = 10e9 * 0.04 / 8
    assert history.features[0].tolist() == [10e9, 0.04, bdp_bytes / 2**25, 3, 3e9, 34]


@pytest.mark.parametrize("share", [0.01, 0.19, 0.2, 0.99, 1.0, 9.9, 10.0, 1000.0])
def test_the_class_is_that_of_the_file_classes(share: float) -> None:
    bdp_bytes = 10e9 * 0.04 / 8
    found = features_of(msgspec.structs.replace(WAN, file_bytes=share * bdp_bytes))[3]
    assert list(Size)[int(found)] is size_of(share * bdp_bytes, bdp_bytes)


def test_what_is_not_known_is_nan_and_nothing_else_is() -> None:
    features = features_of(Conditions(file_bytes=1e6, file_count=3, rtt_s=0.01))
    assert np.isnan(features).tolist() == [True, False, True, True, False, False]


def test_a_history_may_be_empty() -> None:
    assert len(History.of([])) == 0
    assert History.of([]).features.shape == (0, 6)


@pytest.mark.parametrize("rate_bps", [0.0, -1.0, math.nan, math.inf])
def test_a_transfer_that_gave_nothing_is_no_entry(rate_bps: float) -> None:
    with pytest.raises(ValueError, match="leave out transfers that failed"):
        PastTransfer(conditions=WAN, levels=LEVELS, throughput_bps=rate_bps)


def test_levels_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="count pipelining from 1"):
        PastTransfer(
            conditions=WAN,
            levels=Levels(concurrency=1, parallelism=1, pipelining=0),
            throughput_bps=1e9,
        )


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_an_impossible_figure_is_refused(figure: float) -> None:
    with pytest.raises(ValueError, match="rtt_s"):
        Conditions(file_bytes=1e6, rtt_s=figure)


def test_an_archive_is_put_into_columns_once() -> None:
    archive = Archive(iter(sweep(hill((16, 8, 4), 5e9))))
    assert History.of(archive) is History.of(archive)
    assert len(archive) == len(History.of(archive)) == 216
    assert archive[0].levels == Levels(concurrency=1, parallelism=1, pipelining=1)
    assert archive[-2:][1].levels == Levels(concurrency=32, parallelism=32, pipelining=32)
