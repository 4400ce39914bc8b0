"""What is stored of a probe."""

from pathlib import Path
from typing import Any

import pytest

from advisor.advising.prober import Probed
from advisor.advising.recorder import PendingProbe, ProbePurpose, ProbeRecorder
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Outcome
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.models.transfer_heuristics import buffer_of
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.testing.samples import a_path, failed, measured

PAIR = Pair("here", "there")
PATH = a_path()
SETTING: Setting = {"streams": 2}


class FakeMethod:
    def __init__(self, recommended: tuple[Setting, float] | None) -> None:
        self._recommended = recommended

    def state(self) -> dict[str, object]:
        return {"asked": 3}

    def best(self) -> tuple[Setting, float]:
        return SETTING, 8e6

    def recommended(self) -> tuple[Setting, float] | None:
        return self._recommended


class FakeStore:
    def __init__(self) -> None:
        self.records: list[ProbeRecord] = []
        self.raw: dict[str, bytes] = {}

    def append(self, record: ProbeRecord) -> None:
        self.records.append(record)

    def keep_raw(self, pair: Pair, session: str, name: str, raw: bytes) -> None:
        assert (pair, session) == (PAIR, "s1")
        self.raw[name] = raw


def recorder(store: Any, earlier: tuple[ProbeRecord, ...] = (), **asked: Any) -> ProbeRecorder:
    request = AdviceRequest(destination=Endpoint("there"), seed=7, **asked)
    return ProbeRecorder(store, "s1", PAIR, request, PATH, earlier)


def pending(
    ordinal: int, outcome: Outcome, *, subject: str = "tcp", raw: bytes = b""
) -> PendingProbe:
    purpose = ProbePurpose(stage="tcp", kind="search", label="centre")
    return PendingProbe(ordinal, subject, SETTING, purpose, Probed(outcome, raw))


@pytest.mark.asyncio
async def test_a_record_names_the_probe_the_session_and_the_path() -> None:
    store = FakeStore()
    made = recorder(store, method="bisection")
    await made.record(pending(made.next_ordinal(), measured(8e6)), 0.05)
    [record] = store.records
    assert record == made.probes[0]
    assert (record.pair, record.subject, record.setting) == (PAIR, "tcp", SETTING)
    assert (record.session, record.stage, record.purpose) == ("s1", "tcp", "search")
    assert (record.label, record.method, record.seed) == ("centre", "bisection", 7)
    assert (record.rtt_s, record.mtu_bytes, record.bandwidth_bps) == (0.05, 9000, 10e9)
    assert record.buffer_bytes == buffer_of(PATH)
    assert (record.method_state, record.recommended, record.files) == (None, None, None)


@pytest.mark.asyncio
async def test_what_foreign_code_printed_is_kept_by_the_number_of_the_probe() -> None:
    store = FakeStore()
    made = recorder(store)
    number = made.next_ordinal()
    for raw in (b"first", b"second"):
        await made.record(pending(number, failed(), raw=raw), 0.05, retried=True)
    await made.record(pending(number, measured(8e6), raw=b"third"), 0.05)
    await made.record(pending(made.next_ordinal(), measured(8e6)), 0.05)
    assert store.raw == {"0001-try-1": b"first", "0001-try-2": b"second", "0001": b"third"}


@pytest.mark.asyncio
async def test_the_search_is_stored_with_what_it_recommends_beyond_its_best() -> None:
    store = FakeStore()
    made = recorder(store)
    for recommended in (None, (SETTING, 8e6), ({"streams": 9}, 9e6)):
        method: Any = FakeMethod(recommended)
        await made.record(pending(made.next_ordinal(), measured(8e6)), 0.05, method=method)
    assert [one.method_state for one in store.records] == [{"asked": 3}] * 3
    assert [one.recommended for one in store.records] == [None, None, ({"streams": 9}, 9e6)]


@pytest.mark.asyncio
async def test_only_probes_of_the_profiled_tool_say_something_of_files() -> None:
    store = FakeStore()
    made = recorder(store, tool="mover", dataset=Dataset(total_bytes=100, files=4, path="/d"))
    for subject in ("mover", "tcp"):
        await made.record(pending(made.next_ordinal(), measured(8e6), subject=subject), 0.05)
    assert [(one.files, one.file_bytes) for one in store.records] == [(4, 25.0), (None, None)]


@pytest.mark.asyncio
async def test_a_resumed_session_counts_on_from_its_earlier_probes() -> None:
    store = FakeStore()
    first = recorder(store)
    await first.record(pending(first.next_ordinal(), measured(8e6)), 0.05)
    resumed = recorder(store, tuple(first.probes))
    assert resumed.next_ordinal() == 2
    assert resumed.has_measured("tcp", SETTING)
    assert not resumed.has_measured("udt", SETTING)
    assert not resumed.has_measured("tcp", {"streams": 3})


@pytest.mark.asyncio
async def test_a_failure_is_recorded_but_measures_nothing() -> None:
    made = recorder(FakeStore())
    await made.record(pending(made.next_ordinal(), failed()), 0.05)
    assert not made.has_measured("tcp", SETTING)


@pytest.mark.asyncio
async def test_a_real_store_reads_the_record_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = recorder(store)
    await made.record(pending(made.next_ordinal(), measured(8e6), raw=b"said"), 0.05)
    assert store.records(PAIR) == made.probes
