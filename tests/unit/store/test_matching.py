"""What is stored is found by the connection: other links, other names, other addresses."""

from typing import Any

import msgspec
import pytest

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord, SessionRecord
from advisor.runtime.probe_fields import path_fields
from advisor.store.history import Store
from advisor.testing.samples import a_host, a_path, measured

PAIR = Pair("dtn1", "dtn2")
SETTING = {"streams": 4, "buffer_bytes": 2**22, "congestion": "cubic"}
NOW_S = 1.8e9


def a_link(gbps: float, mtu_bytes: int = 9000, **changes: Any) -> PathFacts:
    """A path between interfaces of this speed, without a reservation."""
    ends = {
        end: a_host(hostname=end, interface="eth0", link_bps=gbps * 1e9)
        for end in ("source", "destination")
    }
    return a_path(**{"bandwidth_bps": None, "mtu_bytes": mtu_bytes, **ends, **changes})


def a_probe(path: PathFacts | None, gbps: float, pair: Pair = PAIR, **changes: Any) -> ProbeRecord:
    fields = path_fields(path) if path else {}
    fields |= {"pair": pair, "subject": "tcp", "setting": SETTING, "result": measured(gbps * 1e9)}
    return ProbeRecord(**(fields | {"recorded_s": NOW_S - 60, "session": "one"} | changes))


def keep(store: Store, *probes: ProbeRecord) -> None:
    for number, probe in enumerate(probes):
        # No two probes end at the same time.
        store.append(msgspec.structs.replace(probe, recorded_s=probe.recorded_s + number / 1024))


def test_a_faster_link_of_the_past_is_ignored_and_that_is_said(store: Store) -> None:
    fast, slow = a_link(10), a_link(1, mtu_bytes=1500)
    keep(store, *[a_probe(fast, 9.43)] * 3, *[a_probe(slow, 0.94, session="two")] * 3)
    found = store.past(PAIR, NOW_S, slow)
    assert [r.throughput_bps for r in found.results] == [0.94e9]
    assert found.results[0].caution == ""
    assert found.notes == ["Ignored: 3 probes with packets of 9000 B; they have 1500 B now."]
    assert [r.throughput_bps for r in store.best(PAIR, NOW_S, fast)] == [9.43e9]
    assert len(store.prior(PAIR, slow)) == 3


def test_within_one_host_a_longer_round_trip_is_its_load(store: Store) -> None:
    ends = {"source_address": "127.0.0.1", "destination_address": "127.0.0.1"}
    keep(store, a_probe(a_path(rtt_s=0.00005, **ends), 9.0))
    assert len(store.prior(PAIR, a_path(rtt_s=0.004, **ends))) == 1


def test_a_link_of_another_speed_is_named(store: Store) -> None:
    keep(store, a_probe(a_link(10), 9.43), a_probe(a_link(0.98), 0.9))
    found = store.past(PAIR, NOW_S, a_link(1))
    assert found.notes == ["Ignored: 1 probe over a link of 10 Gbit/s; it has 1 Gbit/s now."]
    assert [r.throughput_bps for r in found.results] == [0.9e9]


def test_no_more_is_promised_than_is_reserved(store: Store) -> None:
    keep(store, a_probe(a_link(10), 9.43), a_probe(a_link(10), 1.04))
    found = store.past(PAIR, NOW_S, a_link(10, bandwidth_bps=1e9))
    assert [r.throughput_bps for r in found.results] == [1.04e9]
    assert found.notes == ["Ignored: 1 probe faster than the 1 Gbit/s that this connection has."]


def test_what_is_only_known_at_more_than_is_reserved_is_promised_at_that(store: Store) -> None:
    keep(store, *[a_probe(a_link(10), 9.43)] * 3, a_probe(a_link(10), 0.8, subject="udt"))
    found = store.past(PAIR, NOW_S, a_link(10, bandwidth_bps=1e9))
    assert [(r.subject, r.throughput_bps) for r in found.results] == [("tcp", 1e9), ("udt", 0.8e9)]
    assert found.results[0].setting == SETTING
    assert found.results[0].caution == (
        "Measured at 9.43 Gbit/s: no more is promised than the 1 Gbit/s that is reserved now."
    )
    assert found.notes == []
    # A search does not learn from it what 1 Gbit/s takes.
    assert [p.subject for p in store.prior(PAIR, a_link(10, bandwidth_bps=1e9))] == ["udt"]


def test_a_speed_that_an_interface_reports_may_be_wrong_in_both(store: Store) -> None:
    # As with veth, which reports 10 Gbit/s and carries more.
    keep(store, a_probe(a_link(10), 30.0))
    assert [r.throughput_bps for r in store.best(PAIR, NOW_S, a_link(10))] == [30e9]


def test_records_without_a_connection_count_with_a_caution_up_to_the_present_link(
    store: Store,
) -> None:
    keep(store, a_probe(None, 0.9), a_probe(None, 9.0))
    [result], notes = store.past(PAIR, NOW_S, a_link(1))
    assert result.throughput_bps == 0.9e9
    assert "without the addresses and the link speed" in result.caution
    assert notes == ["Ignored: 1 probe faster than the 1 Gbit/s that this connection has."]


def test_the_path_that_a_session_was_opened_with_stands_for_its_older_probes(store: Store) -> None:
    path = a_link(10)
    opened = SessionRecord(session="one", pair=PAIR, recorded_s=NOW_S - 90, request={}, path=path)
    store.append(opened)
    older = msgspec.structs.replace(a_probe(path, 9.0), connection=msgspec.UNSET)
    keep(store, older, older, older)
    assert store.past(PAIR, NOW_S, a_link(1)).results == []
    [result], notes = store.past(PAIR, NOW_S, path)
    assert (result.caution, notes) == ("", [])


def test_a_renamed_host_is_the_same_by_its_address_and_its_own_name(store: Store) -> None:
    path = a_link(10)
    keep(store, *[a_probe(path, 9.0)] * 3)
    renamed = Pair("dtn1", "dtn2.new.example.org")
    found = store.past(renamed, NOW_S, path)
    assert [r.throughput_bps for r in found.results] == [9e9]
    assert found.notes == ["Includes the same hosts under other names: dtn1->dtn2."]
    assert len(store.prior(renamed, path)) == 3
    assert store.best(renamed, NOW_S) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"destination_address": "198.51.100.9"},
        {"destination": a_host(hostname="another", link_bps=10e9)},
        {"source": a_host(hostname="another", link_bps=10e9)},
    ],
    ids=["another address", "another host at the address", "another source"],
)
def test_half_of_that_is_not_enough(store: Store, changes: dict[str, Any]) -> None:
    keep(store, *[a_probe(a_link(10), 9.0)] * 3)
    assert store.past(Pair("dtn1", "elsewhere"), NOW_S, a_link(10, **changes)).results == []


def test_labs_have_the_same_addresses_and_are_not_the_same(store: Store) -> None:
    keep(store, *[a_probe(a_link(10), 9.0, Pair("vm", "lab:one"))] * 3)
    assert store.past(Pair("vm", "lab:two"), NOW_S, a_link(10)).results == []


@pytest.mark.parametrize(
    ("known", "asked"), [("lab:one", "dtn2"), ("dtn2", "lab:one")], ids=["lab known", "lab asked"]
)
def test_a_lab_is_not_the_real_host_of_the_same_address(
    store: Store, known: str, asked: str
) -> None:
    keep(store, *[a_probe(a_link(10), 9.0, Pair("dtn1", known))] * 3)
    assert store.past(Pair("dtn1", asked), NOW_S, a_link(10)).results == []


def test_a_changed_address_of_the_same_pair_is_a_caution(store: Store) -> None:
    keep(store, *[a_probe(a_link(10), 9.0)] * 3)
    now = a_link(10, destination_address="2001:db8::2", source_address="2001:db8::1")
    [result], notes = store.past(PAIR, NOW_S, now)
    assert result.caution == (
        "Measured between 192.0.2.1 and 192.0.2.2; the addresses are others now."
    )
    assert notes == []


def test_two_interfaces_of_one_pair_are_apart(store: Store) -> None:
    slow = a_link(1, source_address="10.0.1.1", destination_address="10.0.1.2")
    fast = a_link(10, source_address="10.0.2.1", destination_address="10.0.2.2")
    keep(store, *[a_probe(slow, 0.95)] * 3, *[a_probe(fast, 9.0)] * 3)
    assert [r.throughput_bps for r in store.best(PAIR, NOW_S, slow)] == [0.95e9]
    assert [r.throughput_bps for r in store.best(PAIR, NOW_S, fast)] == [9e9]


def test_interfaces_that_tell_no_speed_are_apart_by_name_and_address(store: Store) -> None:
    def by(interface: str, net: int) -> PathFacts:
        ends = {
            end: a_host(hostname=end, interface=interface, link_bps=None)
            for end in ("source", "destination")
        }
        addresses = {"source_address": f"10.0.{net}.1", "destination_address": f"10.0.{net}.2"}
        return a_path(bandwidth_bps=None, **ends, **addresses)

    keep(store, *[a_probe(by("eth1", 1), 0.19)] * 3)
    found = store.past(PAIR, NOW_S, by("eth2", 2))
    assert found.results == []
    assert found.notes == ["Ignored: 3 probes from eth1 to eth1; it is from eth2 to eth2 now."]
    # Renamed, or with another address: the same network, as far as is known.
    assert store.past(PAIR, NOW_S, by("ens1", 1)).results[0].caution == ""
    assert "the addresses are others" in store.past(PAIR, NOW_S, by("eth1", 9)).results[0].caution


def test_a_connection_is_stored_with_its_probe(store: Store) -> None:
    path = a_link(10)
    keep(store, a_probe(path, 9.0))
    [stored] = store.another().probes(PAIR)
    assert stored.connection == Connection.of(path)
    assert Connection.of(path).link_bps == 10e9
