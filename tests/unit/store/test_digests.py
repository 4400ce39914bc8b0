"""Digests against the slow computation from all records."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.records import AdviceRecord, ClosingRecord, Record, RemarkRecord, TransferRecord
from advisor.store import reading
from advisor.store.digest import JournalDigest
from advisor.store.digest_cache import DigestFiles
from advisor.store.history import Store
from advisor.store.layout import JOURNAL, pair_directory
from advisor.store.ranking import best_results
from advisor.store.remarks import counting, session_of, visible
from tests.unit.store.conftest import PAIR, make_a_probe, make_a_session, make_an_advice

NOW_S = 5000.0
SESSIONS = st.sampled_from(["s", "t", "u"])
TIMES = st.integers(0, 6).map(float)
FAILURE = Failure(kind=FailureKind.RESET, message="it broke", elapsed_s=1.0)

RECORDS = st.one_of(
    st.builds(
        make_a_probe,
        st.sampled_from([1e9, 1.1e9, 2e9, 0.0]),
        subject=st.sampled_from(["tcp", "udt", "source disk"]),
        setting=st.sampled_from(
            [{"streams": 1}, {"streams": 2, "buffer_bytes": 0}, {"buffer_bytes": 0, "streams": 2}]
        ),
        recorded_s=TIMES,
        session=SESSIONS,
        origin=st.sampled_from(["advisor", "advisor", "ProbData"]),
    ),
    st.builds(make_a_probe, result=st.just(FAILURE), recorded_s=TIMES, session=SESSIONS),
    st.builds(make_a_session, SESSIONS, TIMES),
    st.builds(make_an_advice, SESSIONS, TIMES, incomplete=st.booleans()),
    st.builds(
        RemarkRecord,
        pair=st.just(PAIR),
        recorded_s=TIMES,
        session=st.one_of(SESSIONS, st.just(session_of(make_a_probe(origin="ProbData")))),
        probe_s=st.none(),
        kind=st.sampled_from(["note", "outlier", "deleted"]),
        on=st.booleans(),
    ),
    st.builds(
        RemarkRecord,
        pair=st.just(PAIR),
        recorded_s=TIMES,
        session=SESSIONS,
        probe_s=TIMES,
        kind=st.sampled_from(["note", "outlier"]),
        on=st.booleans(),
    ),
)


def test_an_integer_that_no_digest_can_hold_is_a_line_that_is_no_record(tmp_path: Path) -> None:
    """JSON has it, MessagePack does not: every list of sessions failed."""
    store = Store(tmp_path / "store", cache=tmp_path / "cache")
    for number in range(100):  # Enough that the digest is cached.
        store.append(make_a_probe(session="s", recorded_s=float(number)))
    journal = pair_directory(tmp_path / "store", PAIR) / JOURNAL
    line = journal.read_bytes().splitlines()[0]
    setting, odd = b'"streams":4', f'"streams":{2**64}'.encode()
    assert setting in line
    with journal.open("ab") as file:
        file.write(line.replace(setting, odd) + b"\n")
    for again in (store, Store(tmp_path / "store", cache=tmp_path / "cache")):
        [summary] = again.pairs(NOW_S)
        assert (summary.records, summary.skipped) == (100, 1)
        assert again.skipped(PAIR) == 1
        assert len(again.records(PAIR)) == 100


def test_a_digest_that_cannot_be_encoded_is_not_cached(tmp_path: Path) -> None:
    DigestFiles(tmp_path).save(b"key", JournalDigest(skipped=2**64))
    assert DigestFiles(tmp_path).load(b"key").skipped == 0


def _add(store: Store, record: Record) -> None:
    store.append(record)


@settings(deadline=None, max_examples=150)
@given(steps=st.lists(st.lists(RECORDS, max_size=8), min_size=1, max_size=4), warm=st.booleans())
def test_the_list_of_pairs_is_what_all_records_give(steps: list[list[Record]], warm: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place, cache = Path(folder) / "store", Path(folder) / "cache"
        store = Store(place, cache=cache)
        for step in steps:
            for record in step:
                _add(store, record)
            # Either the same digest continues, or another process takes it up from its cache.
            store = store if warm else Store(place, cache=cache)
            records = store.records(PAIR)
            made = [r for r in visible(records) if not isinstance(r, RemarkRecord | TransferRecord)]
            found = store.pairs(NOW_S)
            if not made:
                assert found == []
                continue
            (pair,) = found
            assert pair.best == best_results(counting(records), NOW_S)
            assert pair.best == store.best(PAIR, NOW_S)
            assert pair.records == len(made)
            assert pair.last_recorded_s == max(r.recorded_s for r in made)
            advices = [r for r in made if isinstance(r, AdviceRecord)]
            assert pair.last_advice == max(advices, key=lambda a: a.recorded_s, default=None)
            rates = sorted(
                (p.recorded_s, p.result.throughput_bps)
                for p in counting(records)
                if not isinstance(p.result, Failure)
                and p.result.throughput_bps
                # A disk alone moves nothing.
                and p.subject != "source disk"
            )
            assert sorted(x for points in pair.series.values() for x in points) == rates


@pytest.fixture(autouse=True)
def _every_journal_has_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.store.digest_cache._SMALL_BYTES", 0)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _rates(place: Path, cache: Path) -> list[float]:
    return [r.throughput_bps for p in Store(place, cache=cache).pairs(NOW_S) for r in p.best]


def test_only_what_was_appended_is_read(
    place: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(20):
        Store(place).append(make_a_probe(1e9))
    assert _rates(place, cache) == [1e9]
    Store(place).append(make_a_probe(1e9, session="new"))
    seen = []
    real = reading.read_range

    def spy(handle: int, start: int, end: int) -> bytes:
        seen.append(real(handle, start, end))
        return seen[-1]

    monkeypatch.setattr(reading, "read_range", spy)
    assert _rates(place, cache) == [1e9]
    assert [part.count(b"\n") for part in seen] == [1]


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
def test_a_damaged_cache_is_made_again(place: Path, cache: Path, damage: bytes | None) -> None:
    Store(place).append(make_a_probe(1e9))
    assert _rates(place, cache) == [1e9]
    (file,) = (cache / "digests").iterdir()
    good = file.read_bytes()
    file.write_bytes(good[:-8] + bytes(8) if damage is None else damage)
    assert _rates(place, cache) == [1e9]
    assert file.read_bytes() == good


def test_a_cache_that_cannot_be_written_is_no_error(place: Path, tmp_path: Path) -> None:
    Store(place).append(make_a_probe(1e9))
    (tmp_path / "file").write_text("")
    assert _rates(place, tmp_path / "file") == [1e9]


def test_a_replaced_journal_is_read_again(place: Path, cache: Path) -> None:
    journal = pair_directory(place, PAIR) / "journal.jsonl"
    Store(place).append(make_a_probe(1e9))
    assert _rates(place, cache) == [1e9]
    # In place, with the same inode and size: only the time tells.
    before = journal.stat()
    journal.write_bytes(journal.read_bytes().replace(b":1000000000.0,", b":3000000000.0,"))
    os.utime(journal, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert journal.stat().st_size == before.st_size
    assert _rates(place, cache) == [3e9]
    journal.unlink()
    Store(place).append(make_a_probe(2e9))
    assert _rates(place, cache) == [2e9]


def test_a_torn_line_counts_when_it_is_whole(place: Path, cache: Path) -> None:
    journal = pair_directory(place, PAIR) / "journal.jsonl"
    Store(place).append(make_a_probe(1e9))
    Store(place).append(make_a_probe(3e9))
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    assert _rates(place, cache) == [1e9]
    with journal.open("ab") as file:
        file.write(whole[-20:])
    assert _rates(place, cache) == [2e9]


def test_sessions_say_what_came_of_them(place: Path, cache: Path) -> None:
    store = Store(place, cache=cache)
    for record in (
        make_a_session("advised", 10.0),
        make_a_probe(2e9, session="advised", recorded_s=11.0, method="spsa"),
        make_a_probe(9e9, session="advised", recorded_s=12.0),
        make_a_probe(result=FAILURE, session="advised", recorded_s=13.0),
        make_an_advice("advised", 14.0),
        make_a_session("half", 20.0),
        make_an_advice("half", 21.0, incomplete=True),
        make_a_session("cut", 30.0),
        make_a_session("none", 40.0),
        ClosingRecord(
            session="none", pair=PAIR, recorded_s=41.0, outcome="nothing usable", message="no"
        ),
        make_a_probe(session="import:1", origin="iperf3", recorded_s=1.0),
        make_a_probe(session="import:2", origin="iperf3", recorded_s=2.0),
    ):
        _add(store, record)
    _add(store, _remark("advised", 50.0, "outlier", probe_s=12.0))
    _add(store, _remark("advised", 51.0, "note", text="at night"))
    for total_bytes in (125_000_000, 25_000_000, 250_000_000):
        _add(
            store,
            TransferRecord(
                pair=PAIR,
                recorded_s=60.0,
                session="advised",
                total_bytes=total_bytes,
                elapsed_s=1.0,
            ),
        )
    _add(
        store,
        TransferRecord(
            pair=PAIR, recorded_s=5.0, session="planned", total_bytes=1000, elapsed_s=1.0
        ),
    )
    found = store.sessions(PAIR)
    assert found == store.sessions()
    none, cut, half, advised, planned, imported = found
    states = [s.state for s in found]
    assert states == [
        "nothing usable",
        "interrupted",
        "incomplete",
        "advised",
        "planned",
        "imported",
    ]
    assert (planned.probes, len(planned.transfers)) == (0, 1)
    assert (none.probes, cut.best, half.advice is not None) == (0, None, True)
    assert (advised.probes, advised.failures, advised.outlier_probes) == (3, 1, [12.0])
    assert advised.best is not None
    assert advised.best.throughput_bps == 2e9
    assert [n.text for n in advised.notes] == ["at night"]
    assert [t.came_true for t in advised.transfers] == ["within", "below", "above"]
    assert (advised.rtt_s, imported.probes, imported.began_s) == (0.05, 2, 1.0)


def _remark(session: str, recorded_s: float, kind: str, **changes: object) -> RemarkRecord:
    fields = {"pair": PAIR, "session": session, "recorded_s": recorded_s, "kind": kind}
    return RemarkRecord(**(fields | changes))  # type: ignore[arg-type] # the fields vary by test


def test_deleted_sessions_are_hidden_until_taken_back(place: Path, cache: Path) -> None:
    store = Store(place, cache=cache)
    store.append(make_a_session("s", 10.0))
    store.append(make_a_probe(session="s"))
    store.append(_remark("s", 20.0, "deleted"))
    assert store.sessions() == []
    assert store.pairs() == []
    assert store.prior(PAIR) == []
    assert store.best(PAIR, NOW_S) == []
    assert store.latest_unfinished_session() is None
    assert [s.deleted for s in store.sessions(include_deleted=True)] == [True]
    assert [p.records for p in store.pairs(include_deleted=True)] == [0]
    assert len(store.records(PAIR)) == 3
    store.append(_remark("s", 21.0, "deleted", on=False))
    assert store.latest_unfinished_session() == (
        make_a_session("s", 10.0),
        [make_a_probe(session="s")],
    )


def test_a_single_probe_cannot_be_deleted() -> None:
    with pytest.raises(ValueError, match="outlier"):
        _remark("s", 1.0, "deleted", probe_s=2.0)


def test_pairs_of_a_like_path_are_found(place: Path, cache: Path) -> None:
    store = Store(place, cache=cache)
    for name, rtt_s in (("near", 0.05), ("twice", 0.1), ("far", 0.9), ("unknown", None)):
        store.append(make_a_probe(pair=Pair(name, "y"), rtt_s=rtt_s))
    found = store.similar(PAIR, 0.05, None)
    assert [(s.pair.source, s.rtt_s) for s in found] == [("near", 0.05), ("twice", 0.1)]
    assert [s.likeness for s in found] == pytest.approx([1.0, 0.5])
    assert store.similar(Pair("near", "y"), 0.05, None, limit=1)[0].pair.source == "twice"
    assert store.similar(PAIR, None, 1e9) == []
    learnt = store.prior_of_similar(Pair("near", "y"), 0.05, None)
    assert [p.pair.source for p in learnt] == ["twice"]
