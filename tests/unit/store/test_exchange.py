"""A history that is exported and imported: equal records, equal answers, nothing twice."""

import io
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement
from advisor.domain.records import (
    AdviceRecord,
    ProbeRecord,
    ProfileRecord,
    Record,
    RemarkRecord,
    SessionRecord,
)
from advisor.store import exporters
from advisor.store.history import Store
from advisor.store.identity import record_digest
from advisor.store.importers import BadEntry, read_file, read_files
from advisor.store.remarks import session_of
from tests.unit.store.conftest import make_a_session, make_an_advice

PAIRS = [Pair("dtn1.example.org", "dtn2.example.org"), Pair("192.0.2.1", "2001:db8::7")]
NOW_S = 1_800_000_000.0
MANY = 10_000


def _result(dice: random.Random) -> Measurement | Failure:
    rate_bps = dice.lognormvariate(21, 1)
    if dice.random() < 0.05:
        return Failure(kind=FailureKind.TIMED_OUT, message='a "line",\nand two', elapsed_s=3.0)
    intervals = [
        Interval(n * 0.5, n * 0.5 + 0.5, int(rate_bps * dice.uniform(0.9, 1.1) / 16))
        for n in range(4)
    ]
    return Measurement(
        throughput_bps=rate_bps,
        stderr_bps=rate_bps * dice.random() / 50,
        intervals=intervals,
        steady_from=dice.randrange(3),
        settled=dice.random() < 0.5,
        elapsed_s=dice.uniform(2, 3),
        retransmits=dice.choice([None, 0, 17]),
        granted={"source": 2**22},
        versions={"source": "iperf 3.12"},
    )


def _setting(dice: random.Random, subject: str) -> dict[str, int | str]:
    buffer_bytes = 2 ** dice.randrange(16, 26)
    if subject == "udt":
        block_bytes = 1024 * dice.randrange(1, 40)
        return {"block_bytes": block_bytes, "buffer_bytes": buffer_bytes, "mss_bytes": 1500}
    congestion = dice.choice(["cubic", "bbr"])
    return {"streams": dice.randrange(1, 9), "buffer_bytes": buffer_bytes, "congestion": congestion}


def probe(dice: random.Random, number: int, **changes: object) -> ProbeRecord:
    subject = dice.choice(["tcp", "udt"])
    fields: dict[str, object] = {
        "pair": dice.choice(PAIRS),
        "subject": subject,
        "setting": _setting(dice, subject),
        "result": _result(dice),
        "recorded_s": NOW_S - MANY * 2 + number + dice.random(),
        "session": f"s{number // 40}",
        "stage": "tcp/cubic",
        "label": "y+ … ✓",
        "method": "spsa",
        "seed": dice.randrange(2**32),
        "method_state": {"x": [dice.random(), dice.random()], "k": number},
        "rtt_s": dice.uniform(1e-4, 0.3),
        "mtu_bytes": 1500,
        "bandwidth_bps": dice.choice([None, 1e9]),
    }
    return ProbeRecord(**(fields | changes))  # type: ignore[arg-type] # the fields vary by test


def history(count: int) -> list[Record]:
    dice = random.Random(5)
    records: list[Record] = [probe(dice, number) for number in range(count)]
    records.append(make_a_session("s0", NOW_S - 3 * MANY))
    marked = records[7]
    records.append(
        RemarkRecord(
            pair=marked.pair,
            recorded_s=NOW_S - 5,
            session=session_of(marked),
            probe_s=marked.recorded_s,
            kind="outlier",
        )
    )
    return sorted(records, key=lambda record: str(record.pair))


def stored(folder: Path, records: Iterable[Record]) -> Store:
    store = Store(folder / "history", cache=folder / "cache")
    store.append_missing(records)
    return store


def exported(path: Path, write: Callable[..., object], records: Iterable[Record]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        write(records, stream)
    return path


def sealed(path: Path, records: Iterable[Record]) -> Path:
    path.write_bytes(exporters.write_sealed(list(records), "advisor test"))
    return path


def imported(path: Path) -> list[Record]:
    entries = list(read_file(path))
    assert [one for one in entries if isinstance(one, BadEntry)] == []
    return [one for one in entries if not isinstance(one, BadEntry)]


def answers(store: Store) -> list[object]:
    """What advice starts from: the best of each subject, and all that counts."""
    found: list[object] = []
    for pair in PAIRS:
        found += [store.best(pair, NOW_S), sorted(map(record_digest, store.prior(pair)))]
    return found


def _without_request(record: Record) -> Record:
    return (
        msgspec.structs.replace(record, request={}) if isinstance(record, SessionRecord) else record
    )


HOW_MANY = pytest.mark.parametrize("count", [1000, pytest.param(MANY, marks=pytest.mark.soak)])


@HOW_MANY
@pytest.mark.parametrize("form", ["jsonl", "sealed", "csv"])
def test_many_records_come_back_as_they_were(tmp_path: Path, form: str, count: int) -> None:
    records = history(count)
    file = tmp_path / "file"
    if form == "sealed":
        sealed(file, records)
    else:
        exported(file, {"jsonl": exporters.write_jsonl, "csv": exporters.write_csv}[form], records)
    back = imported(file)
    if form == "csv":
        # A table of probes: what else is in a history is not in it, but for the outliers.
        assert [r for r in back if isinstance(r, ProbeRecord)] == [
            r for r in records if isinstance(r, ProbeRecord)
        ]
    else:
        assert back == [_without_request(record) for record in records]
    original, copy = stored(tmp_path / "a", records), stored(tmp_path / "b", back)
    assert answers(copy) == answers(original)
    assert copy.append_missing(imported(file)) == 0


@HOW_MANY
def test_prof_holds_what_the_format_has_of_many(tmp_path: Path, count: int) -> None:
    records = [record for record in history(count) if isinstance(record, ProbeRecord)]
    stream = io.StringIO()
    left_out = exporters.write_probdata(records, stream)
    file = tmp_path / "own.PROF"
    file.write_text(stream.getvalue())
    back = [record for record in imported(file) if isinstance(record, ProbeRecord)]
    held = [record for record in records if isinstance(record.result, Measurement)]
    assert left_out == len(records) - len(held)

    def figures(probe: ProbeRecord) -> tuple[object, ...]:
        assert isinstance(probe.result, Measurement)
        rate_bps = float(f"{probe.result.throughput_bps:.9e}")
        return str(probe.pair), probe.subject, probe.setting, int(probe.recorded_s), rate_bps

    assert list(map(figures, back)) == list(map(figures, held))
    original, copy = stored(tmp_path / "a", held), stored(tmp_path / "b", back)
    for pair in PAIRS:
        best = [(r.subject, r.setting) for r in original.best(pair, NOW_S)]
        assert [(r.subject, r.setting) for r in copy.best(pair, NOW_S)] == best
    assert copy.append_new(imported(file)) == 0


def test_prof_says_what_it_cannot_hold(tmp_path: Path) -> None:
    dice = random.Random(1)
    result = _result(random.Random(2))
    kernels = {"streams": 2, "buffer_bytes": 0}
    held = probe(
        dice, 1, subject="tcp", setting={"streams": 2, "buffer_bytes": 65536}, result=result
    )
    others = [
        msgspec.structs.replace(held, setting=kernels),
        msgspec.structs.replace(held, subject="globus-url-copy"),
        msgspec.structs.replace(held, pair=Pair("two words", "b")),
        msgspec.structs.replace(held, mtu_bytes=None),
    ]
    stream = io.StringIO()
    assert exporters.write_probdata([held, *others], stream) == len(others)
    assert len(stream.getvalue().splitlines()) == 1


@pytest.mark.parametrize("write", [exporters.write_probdata, exporters.write_pscheduler])
def test_programs_that_know_no_outliers_get_none(
    write: Callable[[Iterable[Record], io.StringIO], int],
) -> None:
    dice = random.Random(1)
    setting, result = {"streams": 2, "buffer_bytes": 65536}, _result(random.Random(2))
    first, other = (
        probe(dice, number, pair=PAIRS[0], subject="tcp", setting=setting, result=result)
        for number in (1, 2)
    )
    remark = RemarkRecord(
        pair=first.pair,
        recorded_s=NOW_S,
        session=session_of(first),
        probe_s=first.recorded_s,
        kind="outlier",
    )
    streams = io.StringIO(), io.StringIO()
    assert write([first, other, remark], streams[0]) == 1
    assert write([other], streams[1]) == 0
    assert streams[0].getvalue() == streams[1].getvalue() != ""


def test_an_advice_is_taken_only_from_ones_own_file(tmp_path: Path) -> None:
    records: list[Record] = [make_a_session("s", 10.0), make_an_advice("s", 20.0)]
    file = exported(tmp_path / "file", exporters.write_jsonl, records)
    session, refused = read_file(file)
    assert isinstance(session, SessionRecord)
    assert session.request == {}
    assert isinstance(refused, BadEntry)
    assert "--restore" in refused.why
    assert [one for _, one in read_files([file], restore=True)] == records


def test_a_sealed_file_is_the_same_each_time_and_says_what_wrote_it() -> None:
    records = history(50)
    assert exporters.write_sealed(records, "advisor 1") == exporters.write_sealed(
        records, "advisor 1"
    )


def imported_probe(number: int, pair: Pair, origin: str = "gridftp-log") -> ProbeRecord:
    dice, session = random.Random(number), f"import:{number}"
    return probe(dice, number, pair=pair, origin=origin, session=session, recorded_s=NOW_S + number)


def on(one: ProbeRecord, kind: Literal["note", "outlier", "deleted"], **more: Any) -> RemarkRecord:
    return RemarkRecord(
        pair=one.pair, recorded_s=NOW_S + 100, session=session_of(one), kind=kind, **more
    )


def test_what_was_rejected_stays_so_under_another_pair(tmp_path: Path) -> None:
    probes = [imported_probe(number, PAIRS[0]) for number in range(3)]
    day = imported_probe(10**5, PAIRS[0])
    assert session_of(day) != session_of(probes[0])
    file = exported(
        tmp_path / "file",
        exporters.write_jsonl,
        [
            *probes,
            on(probes[1], "outlier", probe_s=probes[1].recorded_s),
            on(probes[1], "note", text="the link was busy"),
            on(day, "deleted"),
            day,
        ],
    )
    pair = Pair("here", "there")
    entries = list(read_file(file, pair))
    assert [one for one in entries if isinstance(one, BadEntry)] == []
    store = stored(tmp_path, [one for one in entries if not isinstance(one, BadEntry)])
    assert {one.session for one in store.prior(pair)} == {"import:0", "import:2"}
    [session] = store.sessions(pair)
    assert [note.text for note in session.notes] == ["the link was busy"]


def test_a_mark_is_on_nothing_more_under_another_pair(tmp_path: Path) -> None:
    one, other = (imported_probe(number, pair) for number, pair in enumerate(PAIRS))
    alone = imported_probe(3, PAIRS[0], "iperf3")
    missing = imported_probe(10**6, PAIRS[0])
    file = exported(
        tmp_path / "file",
        exporters.write_jsonl,
        [one, alone, on(one, "outlier"), on(alone, "outlier"), on(missing, "deleted"), other],
    )
    entries = list(read_file(file, Pair("here", "there")))
    refused = {entry.place: entry.why for entry in entries if isinstance(entry, BadEntry)}
    assert list(refused) == ["line 3", "line 5"]
    assert "puts together with others" in refused["line 3"]
    assert "is not in this file" in refused["line 5"]
    [mark] = [entry for entry in entries if isinstance(entry, RemarkRecord)]
    assert mark.session == session_of(msgspec.structs.replace(alone, pair=Pair("here", "there")))


def test_a_profile_is_not_emptied_and_advice_is_of_the_pair_that_is_given(tmp_path: Path) -> None:
    member = imported_probe(1, PAIRS[0])
    made = ProfileRecord(
        session="p",
        pair=PAIRS[0],
        recorded_s=NOW_S,
        name="made",
        members=[record_digest(member)],
    )
    records: list[Record] = [member, made, make_an_advice("s", NOW_S)]
    file = exported(tmp_path / "file", exporters.write_jsonl, records)
    pair = Pair("here", "there")
    taken, refused, advice = (entry for _, entry in read_files([file], pair, restore=True))
    assert taken == msgspec.structs.replace(member, pair=pair)
    assert isinstance(refused, BadEntry)
    assert "without --pair" in refused.why
    assert isinstance(advice, AdviceRecord)
    assert advice.advice.pair == advice.pair == pair


def test_a_pair_that_is_given_replaces_the_files(tmp_path: Path) -> None:
    file = exported(tmp_path / "file", exporters.write_jsonl, history(20))
    pair = Pair("here", "there")
    entries = list(read_file(file, pair))
    assert {one.pair for one in entries if not isinstance(one, BadEntry)} == {pair}
