"""Where a search may start: at the peak of past transfers that were alike."""

import msgspec

from advisor.domain.transfers import Levels, PastTransfer
from advisor.models.harp.entries import History
from advisor.models.harp.optimum import LevelBounds
from advisor.models.harp.peak import Peak, peak_of
from tests.unit.models.harp.worlds import BOX, LAN, WAN, hill, sweep


def _peak(entries: list[PastTransfer], bounds: LevelBounds = BOX) -> Peak | None:
    return peak_of(WAN, History.of(entries), bounds)


def test_it_is_where_they_went_fastest() -> None:
    found = _peak(sweep(hill((16, 8, 4), 5e9), noise=0.02))
    assert found is not None
    assert abs(found.levels.concurrency - 16) <= 2
    assert abs(found.levels.parallelism - 8) <= 2
    assert 4.7e9 < found.throughput_bps < 5.3e9
    assert (found.groups, found.transfers) == (1, 216)


def test_the_box_holds() -> None:
    upper = Levels(concurrency=5, parallelism=32, pipelining=32)
    found = _peak(sweep(hill((16, 8, 4), 5e9)), LevelBounds(lower=BOX.lower, upper=upper))
    assert found is not None
    assert found.levels.concurrency == 5


def test_none_tell_where_none_are_alike() -> None:
    assert _peak([]) is None
    assert _peak(sweep(hill((16, 8, 4), 5e9), conditions=LAN)) is None


def test_none_tell_of_flows_they_never_varied() -> None:
    at_one = [one for one in sweep(hill((16, 8, 4), 5e9)) if one.levels.parallelism == 1]
    assert _peak(at_one) is None
    upper = msgspec.structs.replace(BOX.upper, parallelism=1)
    assert _peak(at_one, LevelBounds(lower=BOX.lower, upper=upper)) is not None


def test_pipelining_is_as_it_always_was() -> None:
    found = _peak([one for one in sweep(hill((16, 8, 4), 5e9)) if one.levels.pipelining == 2])
    assert found is not None
    assert found.levels.pipelining == 2


def test_what_no_surface_fits_tells_nothing() -> None:
    assert _peak(sweep(lambda *_: 1e9, noise=0.5)) is None
