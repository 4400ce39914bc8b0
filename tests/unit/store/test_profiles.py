"""The profiles of a history."""

from pathlib import Path

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem
from advisor.domain.grid import Axis, Grid
from advisor.domain.measurement import FailureKind
from advisor.domain.printable import MOST_SHOWN
from advisor.domain.records import ProbeRecord, ProfileRecord, RemarkRecord
from advisor.store.file_io_profiles import file_io_records
from advisor.store.history import Store
from advisor.store.identity import record_digest
from advisor.store.profiles import StoredProfile, named, stored_profiles
from advisor.testing.samples import failed, measured
from tests.unit.store.conftest import PAIR, keep_reference, make_a_probe

GRID = Grid(subject="tcp", axes=(Axis("streams", (1, 2)), Axis("buffer_bytes", (0, 65536))))


def a_profile(name: str = "before", session: str = "s1", **changes: object) -> ProfileRecord:
    fields: dict[str, object] = {
        "session": session,
        "pair": PAIR,
        "recorded_s": 1000.0,
        "name": name,
        "grids": [GRID],
        "repeats": 2,
    }
    return ProfileRecord(**(fields | changes))  # type: ignore[arg-type] # the fields vary by test


def a_probe(number: int, streams: int, label: str, **changes: object) -> ProbeRecord:
    fields: dict[str, object] = {
        "session": "s1",
        "setting": {"streams": streams, "buffer_bytes": 0},
        "recorded_s": 1000.0 + number,
        "label": label,
    }
    return make_a_probe(1e9 * number, **(fields | changes))


def only(store: Store) -> StoredProfile:
    (found,) = stored_profiles(store)
    return found


def test_it_knows_what_is_left(store: Store) -> None:
    for record in (
        a_profile(),
        a_probe(1, 1, "round 1"),
        a_probe(2, 1, "round 2"),
        a_probe(3, 2, "round 1"),
        a_probe(4, 2, "round 1", result=failed(FailureKind.TIMED_OUT), recorded_s=1003.5),
    ):
        store.append(record)
    found = only(store)
    # Of 4 settings × 2: one was measured twice; one once, and a retry is not another round.
    assert found.left == 8 - 2 - 1
    assert (found.measured, found.failed) == (3, 1)
    assert list(found.rates_bps.values()) == [[1e9, 2e9], [3e9]]


def test_what_was_refused_is_not_tried_again(store: Store) -> None:
    store.append(a_profile())
    store.append(a_probe(1, 1, "round 1", result=failed(FailureKind.REJECTED_SETTING)))
    assert only(store).left == 6


def test_what_was_lost_with_the_peer_is_left(store: Store) -> None:
    store.append(a_profile())
    store.append(a_probe(1, 1, "round 1", result=failed(FailureKind.PEER_GONE)))
    assert only(store).left == 8
    store.append(a_probe(2, 1, "round 1"))
    assert only(store).left == 7


def test_outliers_do_not_count_and_a_deleted_one_is_gone(store: Store) -> None:
    probe = a_probe(1, 1, "round 1")
    for record in (a_profile(), probe, a_probe(2, 1, "round 2")):
        store.append(record)
    remark = RemarkRecord(
        pair=PAIR, recorded_s=2000.0, session="s1", probe_s=probe.recorded_s, kind="outlier"
    )
    store.append(remark)
    assert only(store).measured == 1
    store.append(RemarkRecord(pair=PAIR, recorded_s=2001.0, session="s1", kind="deleted"))
    assert stored_profiles(store) == []


def test_one_made_of_the_history_consists_of_its_members(store: Store) -> None:
    probes = [a_probe(1, 1, ""), a_probe(2, 2, "", session="s2"), a_probe(3, 1, "", session="s3")]
    for probe in probes:
        store.append(probe)
    members = [record_digest(probe) for probe in probes[:2]]
    store.append(a_profile("old", "s9", grids=[], members=members))
    assert only(store).probes == probes[:2]


def test_profiles_are_found_by_name_or_by_the_beginning_of_an_id(store: Store) -> None:
    for number, name in enumerate(("a", "b", "a")):
        store.append(a_profile(name, f"2026{number}", recorded_s=1000.0 + number))
    found = stored_profiles(store)
    assert [one.record.session for one in named(found, "a")] == ["20262", "20260"]
    assert [one.record.name for one in named(found, "20261")] == ["b"]
    assert named(found, "") == []
    assert named(found, "x") == []


def test_reference_profiles_come_last_and_are_marked(tmp_path: Path) -> None:
    keep_reference(tmp_path / "reference", [a_profile("lab")])
    own = Store(tmp_path / "own", [tmp_path / "reference"], cache=tmp_path / "cache")
    own.append(a_profile("mine"))
    assert [(p.record.name, p.shipped) for p in stored_profiles(own)] == [
        ("mine", False),
        ("lab", True),
    ]


def test_an_unfinished_profile_is_no_session_to_resume(store: Store) -> None:
    store.append(a_profile())
    store.append(a_probe(1, 1, "round 1"))
    assert store.latest_unfinished_session() is None
    (session,) = store.sessions()
    assert session.state == "profile"


def a_filesystem(folder: str, device: str) -> Filesystem:
    return Filesystem(
        folder=folder,
        kind="xfs",
        device=device,
        mount_point="/data",
        total_bytes=2**40,
        free_bytes=2**39,
        writable=True,
    )


@pytest.mark.parametrize(
    "folder", ["x" * 255, "a\nb\x1b[2J", "\udcff" * 255], ids=["long", "escapes", "not UTF-8"]
)
def test_file_io_is_kept_whatever_the_names_of_folder_and_device(store: Store, folder: str) -> None:
    filesystem = a_filesystem(f"/data/{folder}", f"//server/{'share' * 100}\t")
    job = FileIoJob(
        direction="read",
        threads=1,
        request_bytes=2**20,
        direct=True,
        total_bytes=2**30,
        ceiling_s=1.0,
    )
    result = FileIoResult(moved_bytes=10**8, elapsed_s=1.0, cpu_cores=0.5, program="fio-3.33")
    host, session = "h" * 64, "20260301T120000Z-4f2a1c"
    profile, probes = file_io_records(
        host, filesystem, [(job, result)], session=session, recorded_s=1000.0
    )
    store.append_missing([profile, *probes])
    found = only(store).record
    assert found.name.startswith(f"{host}-")
    assert found.name.endswith(f"-{session}")
    assert max(len(found.name), len(found.about)) <= MOST_SHOWN
    assert (found.name + found.about).isprintable()


def test_file_io_is_a_profile_of_one_host(store: Store) -> None:
    filesystem = a_filesystem("/data/x", "/dev/sdb")
    measured_jobs = [
        (
            FileIoJob(
                direction=direction,
                threads=threads,
                request_bytes=2**20,
                direct=True,
                total_bytes=2**30,
                ceiling_s=1.0,
            ),
            FileIoResult(
                moved_bytes=10**8 * threads, elapsed_s=1.0, cpu_cores=0.5, program="fio-3.33"
            ),
        )
        for direction in ("read", "write")
        for threads in (1, 4)
    ]
    profile, probes = file_io_records(
        "dtn1", filesystem, measured_jobs, session="s1", recorded_s=1000.0
    )
    store.append_missing([profile, *probes])
    found = only(store)
    assert found.record.pair == Pair("dtn1", "dtn1")
    assert (found.left, found.measured) == (0, 4)
    assert list(found.rates_bps.values()) == [[8e8], [3.2e9], [8e8], [3.2e9]]
    # A disk moves nothing between hosts: it is no answer to what a transfer reaches.
    assert store.best(found.record.pair, 2000.0) == []


def test_the_same_content_has_the_same_digest_and_another_another() -> None:
    probe = a_probe(1, 1, "round 1")
    again = msgspec.json.decode(msgspec.json.encode(probe), type=ProbeRecord)
    assert record_digest(again) == record_digest(probe)
    other = msgspec.structs.replace(probe, result=measured(1.0))
    assert record_digest(other) != record_digest(probe)
