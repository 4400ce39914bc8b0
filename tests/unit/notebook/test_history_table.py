"""`advisor.history`: types, units, and what others may have written."""

import asyncio
import csv
import io
import sys
import time
from pathlib import Path

import msgspec
import pandas as pd
import pytest

import advisor
from advisor.domain.endpoints import Pair
from advisor.domain.problem import ProblemKind
from advisor.domain.records import AdviceRecord, ProbeRecord, RemarkRecord, TransferRecord
from advisor.domain.space import Setting
from advisor.notebook import tables
from advisor.store.exporters import write_csv
from advisor.store.history import Store
from advisor.testing.samples import an_advice, failed, measured

PAIR = Pair("here", "NA")
"""A host whose name other readers of tables take for a missing value."""
BEGAN_S = 1.7e9


def probe(session: str, setting: Setting, at_s: float = 0.0) -> ProbeRecord:
    return ProbeRecord(
        pair=PAIR,
        subject="tcp",
        setting=setting,
        result=measured(2e9),
        recorded_s=BEGAN_S + at_s,
        session=session,
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    kept = Store(tmp_path)
    kept.append(probe("s1", {"streams": 4, "buffer_bytes": 4194304}, 2))
    kept.append(probe("s2", {"streams": 1, "buffer_bytes": 0}, 1))
    kept.append(msgspec.structs.replace(probe("s1", {"streams": 2}, 3), result=failed()))
    return kept


def test_columns_have_types_and_units(store: Store, tmp_path: Path) -> None:
    frame = advisor.history(store=tmp_path)
    assert list(frame["session"]) == ["s2", "s1", "s1"]
    assert list(frame["streams"]) == [1, 4, 2]
    assert str(frame["streams"].dtype) == "Int64"
    assert str(frame["throughput_bps"].dtype) == "Float64"
    assert list(frame["throughput_bps"].isna()) == [False, False, True]
    assert str(frame["recorded_utc"].dtype).startswith("datetime64")
    assert set(frame["destination"]) == {"NA"}
    assert not frame["outlier"].any()


def test_it_has_the_rows_of_the_csv(store: Store, tmp_path: Path) -> None:
    text = io.StringIO()
    write_csv(store.records(PAIR), text)
    rows = sorted(csv.DictReader(io.StringIO(text.getvalue())), key=lambda r: r["recorded_utc"])
    frame = advisor.history("NA", store=tmp_path)
    for name in frame.columns.difference(["recorded_utc", "outlier"]):
        for cell, known in zip([row[name] for row in rows], frame[name], strict=True):
            assert ("" if pd.isna(known) else str(known)) == cell or float(known) == float(cell)


@pytest.mark.parametrize("kind", ["probes", "sessions"])
def test_an_empty_history_has_the_same_columns_and_types(
    kind: str, store: Store, tmp_path: Path
) -> None:
    empty = advisor.history(kind=kind, store=tmp_path / "none")  # type: ignore[arg-type] # a str
    full = advisor.history(kind=kind, store=tmp_path)  # type: ignore[arg-type] # a str
    assert len(empty) == 0
    assert len(full) > 0
    assert list(map(str, empty.dtypes)) == list(map(str, full.dtypes))
    assert list(empty.columns) == list(full.columns)


@pytest.mark.parametrize("value", ["<script>", "1; rm", "nan", 2.5, 4e18, "١"])
def test_what_is_no_number_of_streams_is_missing(value: str | float, tmp_path: Path) -> None:
    Store(tmp_path).append(probe("s1", {"streams": value}))
    assert advisor.history(store=tmp_path)["streams"].isna().all()


def test_a_session_has_its_advice_and_whether_it_came_true(store: Store, tmp_path: Path) -> None:
    advice = an_advice(PAIR, session="s1")
    store.append(AdviceRecord(pair=PAIR, recorded_s=BEGAN_S + 4, advice=advice))
    low_bps, high_bps = advice.interval_bps
    elapsed_s = 8e9 / ((low_bps + high_bps) / 2)
    store.append(
        TransferRecord(
            pair=PAIR,
            recorded_s=time.time(),
            session="s1",
            total_bytes=10**9,
            elapsed_s=elapsed_s,
        )
    )
    store.append(
        RemarkRecord(pair=PAIR, recorded_s=time.time(), session="s2", kind="outlier", on=True)
    )
    frame = advisor.history(kind="sessions", store=tmp_path).set_index("session")
    assert frame.loc["s1", "expected_low_bps"] == low_bps
    assert frame.loc["s1", "came_true"] == "within"
    assert list(frame["outlier"]) == [True, False]
    assert pd.isna(frame.loc["s2", "expected_bps"])


def test_without_pandas_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(advisor.AdvisorError) as caught:
        advisor.history(store=tmp_path)
    assert caught.value.problem.kind is ProblemKind.MISSING
    assert "[notebook]" in caught.value.problem.remedy


@pytest.mark.parametrize(
    ("pair", "kind"), [("elsewhere", ProblemKind.FAILED), ("a->", ProblemKind.INVALID)]
)
def test_a_pair_that_is_not_stored_is_a_problem(
    pair: str, kind: ProblemKind, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(advisor.AdvisorError) as caught:
        advisor.history(pair, store=tmp_path)
    assert caught.value.problem.kind is kind


def test_a_file_is_no_history(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(advisor.AdvisorError, match="is a file"):
        advisor.history(store=file)


def test_every_column_has_a_type_by_its_name() -> None:
    for name in (*tables._PROBE_COLUMNS, *tables._SESSION_COLUMNS):
        if name.endswith("_bytes"):
            assert name in tables._WHOLE
        elif name.endswith("_utc"):
            assert name in tables._TIMES


def test_wait_refuses_to_block_a_loop() -> None:
    async def cell() -> None:
        advisor.advise("localhost").wait()

    with pytest.raises(advisor.AdvisorError, match="await"):
        asyncio.run(cell())


def test_a_history_that_did_not_answer_is_no_table(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a database that is away: what this host knows of it is not all."""
    missed = iter(range(100))
    monkeypatch.setattr(type(store.kept), "missed", property(lambda _: next(missed)))
    with pytest.raises(advisor.AdvisorError, match="may be incomplete"):
        advisor.history(store=tmp_path)
