import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.records import (
    AdviceRecord,
    ClosingRecord,
    ProbeRecord,
    ProfileRecord,
    Record,
    RemarkRecord,
    SessionRecord,
)
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.layout import pair_directory, safe_name, shipped_profiles
from advisor.testing.samples import a_path
from tests.unit.store.conftest import keep_reference

Probe = Callable[..., ProbeRecord]
Session = Callable[..., SessionRecord]
Advise = Callable[..., AdviceRecord]


@pytest.fixture
def folder(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "history")


def _add_line(store: Store, pair: Pair, line: dict[str, object]) -> None:
    with (pair_directory(Path(store.argument), pair) / "journal.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def test_records_come_back_as_they_were(
    store: Store, pair: Pair, make_probe: Probe, make_session: Session, make_advice: Advise
) -> None:
    closing = ClosingRecord(
        session="t", pair=pair, recorded_s=4.0, outcome="nothing usable", message="no"
    )
    records: list[Record] = [
        make_session("s", 1.0),
        make_probe(),
        make_advice("s", 3.0),
        closing,
    ]
    for record in records:
        store.append(record)
    assert store.records(pair) == records
    assert store.another().records(pair) == records
    assert store.probes(pair) == [records[1]]


def test_reading_creates_nothing(folder: Store, pair: Pair) -> None:
    assert folder.pairs() == []
    assert folder.records(pair) == []
    assert folder.best(pair, 0.0) == []
    assert folder.latest_unfinished_session() is None
    assert not Path(folder.argument).parent.exists()


def test_the_default_is_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Store.default().argument == str(tmp_path / "advisor" / "history")


def test_newer_records_are_read_and_unknown_ones_counted(
    folder: Store, pair: Pair, make_probe: Probe
) -> None:
    folder.append(make_probe())
    newer = msgspec.to_builtins(make_probe(recorded_s=2000.0)) | {"invented_later": {"x": 1}}
    _add_line(folder, pair, newer)
    _add_line(folder, pair, {"record": "hologram", "pair": {"source": "a", "destination": "b"}})
    _add_line(folder, pair, {"record": "probe"})
    assert [p.recorded_s for p in folder.probes(pair)] == [1000.0, 2000.0]
    assert folder.skipped(pair) == 2


def test_a_record_that_could_not_be_read_again_is_refused(
    store: Store, pair: Pair, make_probe: Probe
) -> None:
    with pytest.raises(StoreError, match="could not be read back"):
        store.append(make_probe(recorded_s=float("nan")))
    assert store.records(pair) == []


def test_pairs_are_summed_up(
    folder: Store, pair: Pair, make_probe: Probe, make_advice: Advise
) -> None:
    other = Pair("x", "y")
    folder.append(make_probe(recorded_s=10.0))
    folder.append(make_advice("s", 20.0))
    folder.append(make_advice("t", 15.0))
    folder.append(make_probe(pair=other, recorded_s=30.0, subject="udt"))
    _add_line(folder, pair, {"record": "hologram"})
    first, second = folder.pairs(now_s=40.0)
    assert (first.pair, first.last_recorded_s, first.records) == (other, 30.0, 1)
    assert first.last_advice is None
    assert first.best[0].subject == "udt"
    assert (second.pair, second.records, second.skipped) == (pair, 3, 1)
    assert second.last_advice is not None
    assert second.last_advice.advice.session == "s"
    assert second.best[0].age_s == 30.0


def test_directories_without_readable_records_are_passed_over(
    folder: Store, make_probe: Probe
) -> None:
    (Path(folder.argument) / "stray").mkdir(parents=True)
    (Path(folder.argument) / "notes.txt").write_text("")
    assert folder.pairs() == []


def test_like_names_have_directories_of_their_own(tmp_path: Path) -> None:
    pairs = [
        Pair("a/b", "c"),
        Pair("a-b", "c"),
        Pair("a", "b-c"),
        Pair("..", "."),
        Pair("é" * 200, "z"),
    ]
    places = [pair_directory(tmp_path, pair) for pair in pairs]
    assert len(set(places)) == len(pairs)
    assert all(place.parent == tmp_path and len(place.name) < 200 for place in places)
    assert places[0].name.startswith("a-b--c--")


def test_raw_output_is_kept_beside(folder: Store, pair: Pair, make_probe: Probe) -> None:
    folder.append(make_probe())
    folder.keep_raw(pair, "import:12/../x", "0001 first", b"old")
    folder.keep_raw(pair, "import:12/../x", "0001 first", b"what it printed\n" * 100)
    [path] = Path(folder.argument).rglob("*.gz")
    assert gzip.decompress(path.read_bytes()) == b"what it printed\n" * 100
    assert path.parent.parent == pair_directory(Path(folder.argument), pair) / "raw"
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert safe_name("0001") == "0001"
    assert folder.probes(pair) == [make_probe()]


def test_new_records_are_taken_once(store: Store, pair: Pair, make_probe: Probe) -> None:
    one, two = make_probe(session="import:1"), make_probe(session="import:2")
    elsewhere = make_probe(session="import:1", pair=Pair("x", "y"))
    assert store.append_new([one, one]) == 1
    assert store.append_new([one, two, elsewhere]) == 2
    assert store.append_new([one, two, elsewhere]) == 0
    assert store.probes(pair) == [one, two]


def test_the_newest_unfinished_session_is_found(
    store: Store, pair: Pair, make_probe: Probe, make_session: Session, make_advice: Advise
) -> None:
    other = Pair("x", "y")
    for record in (
        make_session("complete", 50.0),
        make_advice("complete", 51.0),
        make_session("cut", 40.0),
        make_probe(session="cut"),
        make_probe(session="complete"),
        make_advice("cut", 41.0, incomplete=True),
        make_session("closed", 60.0),
        ClosingRecord(
            session="closed", pair=pair, recorded_s=61.0, outcome="nothing usable", message="no"
        ),
        make_session("old", 30.0, other),
    ):
        store.append(record)
    found = store.latest_unfinished_session()
    assert found == (make_session("cut", 40.0), [make_probe(session="cut")])
    assert store.latest_unfinished_session(pair) == found
    assert store.latest_unfinished_session(other) == (make_session("old", 30.0, other), [])
    store.append(make_advice("cut", 70.0))
    assert store.latest_unfinished_session(pair) is None


@pytest.mark.parametrize("kind", ["deleted", "outlier"])
def test_what_the_user_rejected_is_not_resumed(
    store: Store, pair: Pair, make_session: Session, kind: Literal["deleted", "outlier"]
) -> None:
    other = Pair("x", "y")
    for record in (
        make_session("old", 40.0),
        make_session("rejected", 50.0),
        make_session("rejected too", 60.0, other),
        RemarkRecord(pair=pair, recorded_s=70.0, session="rejected", kind=kind),
        RemarkRecord(pair=other, recorded_s=70.0, session="rejected too", kind=kind),
    ):
        store.append(record)
    assert store.latest_unfinished_session(pair) == (make_session("old", 40.0), [])
    assert store.latest_unfinished_session(other) is None
    assert store.latest_unfinished_session() == (make_session("old", 40.0), [])


def test_profiles_and_imported_sessions_are_not_resumed(
    store: Store, make_session: Session
) -> None:
    profiled, imported = Pair("a", "b"), Pair("x", "y")
    for record in (
        make_session("old", 40.0),
        ProfileRecord(session="profile", pair=profiled, recorded_s=50.0, name="it"),
        msgspec.structs.replace(make_session("imported", 60.0, imported), request={}),
    ):
        store.append(record)
    assert store.latest_unfinished_session(profiled) is None
    assert store.latest_unfinished_session(imported) is None
    assert store.latest_unfinished_session() == (make_session("old", 40.0), [])


def test_a_session_that_ended_can_be_extended(
    store: Store, pair: Pair, make_probe: Probe, make_session: Session, make_advice: Advise
) -> None:
    assert store.session_to_extend("") is None
    for record in (
        make_session("first", 40.0),
        make_probe(session="first"),
        make_advice("first", 41.0),
        make_session("second", 50.0),
        make_advice("second", 51.0),
    ):
        store.append(record)
    assert store.session_to_extend("") == (make_session("second", 50.0), [])
    assert store.session_to_extend("first") == (
        make_session("first", 40.0),
        [make_probe(session="first")],
    )
    assert store.session_to_extend("none") is None


def test_an_unfinished_session_is_found_by_its_identity(
    store: Store, pair: Pair, make_probe: Probe, make_session: Session, make_advice: Advise
) -> None:
    for record in (
        make_session("first", 40.0),
        make_probe(session="first"),
        make_session("second", 50.0, Pair("x", "y")),
        make_session("ended", 60.0),
        make_advice("ended", 61.0),
    ):
        store.append(record)
    assert store.unfinished_session("first") == (
        make_session("first", 40.0),
        [make_probe(session="first")],
    )
    assert store.unfinished_session("second") == (make_session("second", 50.0, Pair("x", "y")), [])
    assert store.unfinished_session("ended") is store.unfinished_session("none") is None


def test_references_are_searched_after_ones_own(
    tmp_path: Path, pair: Pair, make_probe: Probe
) -> None:
    shipped = [make_probe(1e9), make_probe(2e9, subject="udt")]
    keep_reference(tmp_path / "profiles", shipped)
    store = Store(tmp_path / "own", reference=[tmp_path / "missing", tmp_path / "profiles"])
    assert store.prior(pair) == shipped
    assert store.another().references is store.references
    assert all("reference profile" in r.caution for r in store.best(pair, 1000.0))
    store.append(make_probe(5e8))
    tcp, udt = store.best(pair, 1000.0)
    assert (tcp.throughput_bps, "reference" in tcp.caution) == (5e8, False)
    assert (udt.throughput_bps, "reference" in udt.caution) == (2e9, True)
    assert store.prior(pair) == [make_probe(5e8)]
    assert len(store.pairs()) == 1
    assert sorted(p.name for p in (tmp_path / "own").iterdir()) == [
        pair_directory(tmp_path, pair).name
    ]


def test_profiles_travel_with_the_program() -> None:
    (place,) = shipped_profiles()
    assert (place / "README.md").is_file()


def test_a_damaged_reference_is_left_out_with_a_line(
    tmp_path: Path, pair: Pair, make_probe: Probe
) -> None:
    keep_reference(tmp_path, [make_probe(1e9)], "whole")
    keep_reference(tmp_path, [make_probe(2e9)], "damaged")
    damaged = tmp_path / "damaged.profile.gz"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    references = Store(tmp_path / "own", [tmp_path]).references
    assert references.records == {pair: [make_probe(1e9)]}
    (line,) = references.refused
    assert str(damaged) in line


def test_a_store_that_is_a_file(tmp_path: Path, make_probe: Probe) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file")
    with pytest.raises(StoreError, match="--store"):
        store.pairs()
    with pytest.raises(StoreError, match="--store"):
        store.append(make_probe())
    with pytest.raises(StoreError, match="--store"):
        store.keep_raw(Pair("a", "b"), "s", "n", b"")


def test_what_was_measured_on_a_path_of_another_rtt_is_left_out(
    store: Store, pair: Pair, make_probe: Probe
) -> None:
    near, far, unknown = make_probe(9e8, rtt_s=0.040), make_probe(5e8, rtt_s=0.093), make_probe(1e8)
    for probe in (near, far, unknown):
        store.append(probe)
    assert store.prior(pair, a_path(rtt_s=0.090)) == [far, unknown]
    assert store.prior(pair, a_path(rtt_s=0.044)) == [near, unknown]
    assert store.prior(pair) == [near, far, unknown]
    found = store.past(pair, 1000.0, a_path(rtt_s=0.045))
    assert [r.probes for r in found.results] == [2]
    assert found.notes == ["Ignored: 1 probe at a round-trip time of 93 ms; it is 45 ms now."]


def test_on_a_short_path_two_milliseconds_are_no_other_path(
    store: Store, pair: Pair, make_probe: Probe
) -> None:
    probe = make_probe(rtt_s=0.0004)
    store.append(probe)
    assert store.prior(pair, a_path(rtt_s=0.0021)) == [probe]
    assert store.prior(pair, a_path(rtt_s=0.0030)) == []


def test_transfers_of_files_are_found_whichever_hosts_they_were_between(
    store: Store, pair: Pair, make_probe: Probe
) -> None:
    other = Pair("elsewhere", "far")
    moved = msgspec.structs.replace(
        make_probe(), setting={"concurrency": 4, "parallelism": 2}, file_bytes=1e6, files=3
    )
    store.append(make_probe())
    store.append(moved)
    store.append(msgspec.structs.replace(moved, pair=other))
    networks = [one.conditions.network for one in store.transfers()]
    assert sorted(networks) == sorted([str(pair), str(other)])
