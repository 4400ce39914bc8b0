"""What the history knows of the destinations of one source."""

from pathlib import Path

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord, ShareRecord
from advisor.models.shares.forecast import Modelling
from advisor.store.history import Store
from advisor.transfer.shared.prior_knowledge import (
    NothingKnown,
    forecasts_of,
    known_of,
    trained_destinations,
)
from tests.unit.models.shares.made_up import LAWS, NOW_S, served


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "history", cache=tmp_path / "cache")


def train(store: Store, parallelism: int, number: int = 12, tool: str = "") -> None:
    for name, some in served(number).items():
        for one in some:
            store.append(
                ShareRecord(
                    pair=Pair("here", name),
                    recorded_s=one.when_s,
                    session="s",
                    served=msgspec.structs.replace(
                        one,
                        parallelism=parallelism,
                        source_streams=parallelism * one.source_concurrency,
                    ),
                    parallelism=parallelism,
                    others={},
                    purpose="train",
                    tool=tool,
                )
            )


def log(store: Store, name: str, begin_s: float) -> None:
    result = Measurement(
        throughput_bps=50e6,
        stderr_bps=1e6,
        intervals=[Interval(0.0, 20.0, 125_000_000)],
        steady_from=0,
        settled=True,
        elapsed_s=20.0,
    )
    store.append(
        ProbeRecord(
            pair=Pair("here", name),
            subject="globus-url-copy",
            setting={"concurrency": 2, "parallelism": 8},
            result=result,
            recorded_s=begin_s + 20.0,
            session=f"{name}{begin_s}",
            origin="gridftp-log",
            file_bytes=1e8,
            files=10,
        )
    )


def test_what_was_learnt_is_there_again(store: Store) -> None:
    train(store, 8)
    known = known_of(store, "here", ["kraken", "gordon"])
    assert known.parallelism == 8
    assert known.from_logs == []
    assert known.samples == {name: served(12)[name] for name in ("kraken", "gordon")}
    assert set(forecasts_of(known, NOW_S, Modelling())) == {"kraken", "gordon"}
    assert trained_destinations(store, "here") == sorted(LAWS)
    assert trained_destinations(store, "elsewhere") == []


def test_other_streams_are_other_samples(store: Store) -> None:
    train(store, 8, number=18)
    train(store, 4, number=12)
    assert known_of(store, "here", ["kraken"]).parallelism == 8
    assert len(known_of(store, "here", ["kraken"], 4).samples["kraken"]) == 12


def test_other_tools_are_other_samples(store: Store) -> None:
    train(store, 8, number=12)
    assert known_of(store, "here", ["kraken"]).tool == "globus-url-copy"
    train(store, 1, number=18, tool="rclone")
    most = known_of(store, "here", ["kraken"])
    assert (most.tool, most.parallelism, len(most.samples["kraken"])) == ("rclone", 1, 18)
    usual = known_of(store, "here", ["kraken"], tool="globus-url-copy")
    assert (usual.parallelism, len(usual.samples["kraken"])) == (8, 12)
    none = known_of(store, "here", ["kraken"], tool="xrdcp")
    assert (none.tool, none.parallelism, none.samples["kraken"]) == ("xrdcp", 1, [])


def test_records_of_older_versions_have_the_streams_of_all(store: Store) -> None:
    for one in served(6)["kraken"]:
        old = msgspec.structs.replace(one, parallelism=0, source_streams=0)
        store.append(
            ShareRecord(
                pair=Pair("here", "kraken"),
                recorded_s=one.when_s,
                session="s",
                served=old,
                parallelism=8,
                others={},
                purpose="train",
            )
        )
    assert known_of(store, "here", ["kraken"]).samples["kraken"] == served(6)["kraken"]


def test_streams_that_were_varied_are_samples_of_one_model(store: Store) -> None:
    for number in range(4):
        train(store, 2 + number, number=8)
    assert len(known_of(store, "here", ["kraken"]).samples["kraken"]) == 32


def test_transfers_that_overlapped_stand_in_where_nothing_was_learnt(store: Store) -> None:
    for number in range(6):
        log(store, "kraken", NOW_S - 1000 + 30 * number)
        log(store, "mason", NOW_S - 1000 + 30 * number)
    known = known_of(store, "here", ["kraken"])
    assert known.from_logs == ["kraken"]
    assert {(one.concurrency, one.source_concurrency) for one in known.samples["kraken"]} == {
        (2, 4)
    }
    assert known_of(store, "here", ["kraken"], tool="rclone").samples["kraken"] == []


def test_nothing_known_names_the_command(store: Store) -> None:
    train(store, 8)
    known = known_of(store, "here", ["kraken", "stampede"])
    with pytest.raises(
        NothingKnown, match=r"stampede: .*share train kraken stampede --to"
    ) as error:
        forecasts_of(known, NOW_S, Modelling())
    assert "\n" not in str(error.value)


def test_what_was_learnt_is_no_session_and_no_probe(store: Store) -> None:
    train(store, 8)
    assert store.sessions() == []
    assert store.probes(Pair("here", "kraken")) == []
    assert store.pairs(NOW_S) == []


def test_what_stalled_is_no_sample(store: Store) -> None:
    train(store, 8)
    stalled = msgspec.structs.replace(served(12)["kraken"][-1], throughput_bps=1e4)
    store.append(
        ShareRecord(
            pair=Pair("here", "kraken"),
            recorded_s=stalled.when_s,
            session="s",
            served=stalled,
            parallelism=8,
            others={},
            purpose="run",
        )
    )
    assert known_of(store, "here", ["kraken"]).samples["kraken"] == served(12)["kraken"]
