"""What a search learns from other pairs."""

import msgspec

from advisor.advising.prior_knowledge import capacity_bps, surfaces_of
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import EndLoad
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.testing.samples import a_host, a_path, failed, measured


def probe(pair: Pair, session: str, streams: int, gbps: float) -> ProbeRecord:
    setting: Setting = {"streams": streams, "buffer_bytes": 2**20}
    result = measured(gbps * 1e9) if gbps else failed()
    return ProbeRecord(
        pair=pair, subject="tcp", setting=setting, result=result, recorded_s=0, session=session
    )


def test_each_session_of_each_pair_is_a_surface_of_means() -> None:
    here, there = Pair("a", "b"), Pair("a", "c")
    surfaces = surfaces_of(
        [
            probe(here, "1", 1, 1.0),
            probe(here, "1", 1, 3.0),
            probe(here, "1", 2, 4.0),
            probe(there, "1", 1, 5.0),
            probe(there, "1", 8, 6.0),
        ]
    )
    assert [s.rates_bps for s in surfaces] == [[2e9, 4e9], [5e9, 6e9]]
    assert [s.repeats for s in surfaces] == [[2, 1], [1, 1]]
    assert [s["streams"] for s in surfaces[1].settings] == [1, 8]
    assert not any(s.same_pair for s in surfaces)


def test_failures_and_single_settings_show_no_shape() -> None:
    pair = Pair("a", "b")
    assert surfaces_of([probe(pair, "1", 1, 1.0), probe(pair, "1", 2, 0.0)]) == ()


HERE = Pair("a", "b")
SATURATED = [
    probe(HERE, "1", 1, 0.7),
    probe(HERE, "1", 2, 0.93),
    probe(HERE, "1", 4, 0.94),
    probe(HERE, "1", 16, 0.95),
]
UNKNOWN = a_host(link_bps=None)
A_10G_LINK = a_path(bandwidth_bps=None)


def test_the_capacity_is_where_more_flows_gain_nothing_and_not_the_speed_of_the_interface() -> None:
    capacity = capacity_bps(A_10G_LINK, SATURATED)
    assert capacity is not None
    assert abs(capacity - 0.94e9) < 1


def test_a_reservation_comes_before_everything_that_was_seen() -> None:
    assert capacity_bps(a_path(bandwidth_bps=5e9), SATURATED) == 5e9


def test_two_settings_of_the_same_rate_may_lie_on_both_sides_of_a_peak() -> None:
    both_sides = [probe(HERE, "1", 1, 0.9), probe(HERE, "1", 16, 0.9), probe(HERE, "1", 25, 0.5)]
    assert capacity_bps(A_10G_LINK, both_sides) == 10e9


def test_settings_that_still_rise_show_no_capacity() -> None:
    rising = [probe(HERE, "1", n, 0.1 * n) for n in (1, 2, 4, 8)]
    assert capacity_bps(A_10G_LINK, rising) == 10e9
    assert capacity_bps(a_path(bandwidth_bps=None, source=UNKNOWN, destination=UNKNOWN), []) is None


def test_files_from_disk_say_nothing_of_the_path() -> None:
    moved = [msgspec.structs.replace(one, subject="xdd") for one in SATURATED]
    assert capacity_bps(A_10G_LINK, moved) == 10e9


def test_where_a_core_saturates_is_not_what_the_path_carries() -> None:
    full = EndLoad(process_cores=1.0, host_share=0.3, thread_cores=0.98)
    held_by_core = [
        msgspec.structs.replace(one, result=msgspec.structs.replace(one.result, receiver=full))
        for one in SATURATED
    ]
    assert capacity_bps(A_10G_LINK, SATURATED) != capacity_bps(A_10G_LINK, [])
    assert capacity_bps(A_10G_LINK, held_by_core) == capacity_bps(A_10G_LINK, [])
