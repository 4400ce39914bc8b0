"""Stored probes as past transfers."""

from typing import Any

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.domain.space import AUTOMATIC, Setting
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.past_transfers import completed, transfers_of
from advisor.testing.samples import a_path, failed, measured


def probe(setting: Setting, bps: float = 1e9, **facts: Any) -> ProbeRecord:
    return ProbeRecord(
        pair=Pair("a", "b"),
        subject="globus-url-copy",
        setting=setting,
        result=measured(bps) if bps else failed(),
        recorded_s=7.0,
        **({"file_bytes": 1e6, "files": 10} | facts),
    )


def test_what_a_probe_of_files_says() -> None:
    [found] = transfers_of(
        [
            probe(
                {"concurrency": 4, "parallelism": 2},
                2e9,
                rtt_s=0.02,
                bandwidth_bps=1e10,
                buffer_bytes=2**22,
            )
        ]
    )
    assert found.levels == Levels(concurrency=4, parallelism=2, pipelining=1)
    assert (found.throughput_bps, found.when_s) == (2e9, 7.0)
    conditions = found.conditions
    assert (conditions.file_bytes, conditions.file_count) == (1e6, 10)
    assert (conditions.rtt_s, conditions.bandwidth_bps, conditions.buffer_bytes) == (
        0.02,
        1e10,
        2**22,
    )
    assert conditions.network == str(Pair("a", "b"))


def test_a_level_that_was_not_set_is_one_and_unknown_figures_stay_unknown() -> None:
    [found] = transfers_of([probe({"parallelism": 8, "pipelining": 4}, rtt_s=0.0)])
    assert found.levels == Levels(concurrency=1, parallelism=8, pipelining=4)
    assert found.conditions.rtt_s is None
    assert found.conditions.bandwidth_bps is None


def test_a_pipelining_left_to_the_tool_is_told_from_none() -> None:
    with_, without = transfers_of(
        [probe({"concurrency": 4, "parallelism": 2, "pipelining": one}) for one in (AUTOMATIC, 1)]
    )
    assert with_.levels == Levels(concurrency=4, parallelism=2, pipelining=2)
    assert without.levels == Levels(concurrency=4, parallelism=2, pipelining=1)


def test_what_others_may_write_in_the_place_of_a_level_is_left_out() -> None:
    strange = ["4; id", 2**70, -1, 2.5, 1e300, float("inf")]
    assert not list(transfers_of(probe({"concurrency": one, "parallelism": 2}) for one in strange))


def test_what_moved_no_files_or_came_to_nothing_is_no_transfer() -> None:
    setting: Setting = {"concurrency": 2}
    assert not list(
        transfers_of(
            [
                probe(setting, file_bytes=None),
                probe(setting, bps=0),
                probe({"streams": 4, "buffer_bytes": 0}),
            ]
        )
    )


def test_a_log_between_these_hosts_is_told_what_is_known_of_their_path() -> None:
    path = a_path(rtt_s=0.04, bandwidth_bps=10e9)
    logged = PastTransfer(
        conditions=Conditions(
            file_bytes=1e6, network=f"{path.source_address}->{path.destination.hostname}"
        ),
        levels=Levels(concurrency=2, parallelism=4),
        throughput_bps=1e9,
    )
    elsewhere = msgspec.structs.replace(
        logged, conditions=Conditions(file_bytes=1e6, network="x->y")
    )
    own, other = completed([logged, elsewhere], Pair("here", "there"), path)
    assert (own.conditions.rtt_s, own.conditions.bandwidth_bps) == (0.04, 10e9)
    assert other == elsewhere
    known = msgspec.structs.replace(
        logged, conditions=msgspec.structs.replace(logged.conditions, rtt_s=0.1)
    )
    [kept] = completed([known], Pair("here", "there"), path)
    assert kept.conditions.rtt_s == 0.1
