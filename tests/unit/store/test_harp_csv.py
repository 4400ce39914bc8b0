import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
from advisor.store.importers import BadEntry, read_file

GRID = (
    "FileSize,FileCount,Bandwidth,RTT,BufferSize,Parallelism,Concurrency,Pipelining,Fast,"
    "Throughput,Duration,Date,Time,Source,Destination"
)
STREAMS = "Note,FileSize,FileNumbers,Source,Destination,P,CC,PP,FAST,Throughput,TransferDuration"
# 100 files of 10 MiB in 10 s.
ROW = "10485760,100,10000,0.04,32,2,4,8,0,800,10,2015-04-08,15:56:00.5,Stampede,Gordon"
RATE_BPS = 800 * 2**20

Read = Callable[..., list[ProbeRecord | BadEntry]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def take(
        *lines: str, pair: Pair | None = None, end: str = "\n"
    ) -> list[ProbeRecord | BadEntry]:
        path = tmp_path / "table"
        path.write_bytes("".join(line + end for line in lines).encode())
        return list(read_file(path, pair))

    return take


def _probes(entries: list[ProbeRecord | BadEntry]) -> list[ProbeRecord]:
    assert all(isinstance(entry, ProbeRecord) for entry in entries), entries
    return [entry for entry in entries if isinstance(entry, ProbeRecord)]


def _when(*moment: int) -> float:
    return datetime(*moment, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type] # a date's parts


def test_a_row(read: Read) -> None:
    (probe,) = _probes(read(GRID, ROW))
    assert (probe.pair, probe.subject, probe.origin) == (
        Pair("Stampede", "Gordon"),
        "globus-url-copy",
        "harp-csv",
    )
    assert probe.setting == {"concurrency": 4, "parallelism": 2, "pipelining": 8}
    assert (probe.files, probe.file_bytes) == (100, 10485760)
    assert (probe.bandwidth_bps, probe.rtt_s, probe.buffer_bytes) == (10e9, 0.04, 32 * 2**20)
    # Recorded when it ended.
    assert probe.recorded_s == pytest.approx(_when(2015, 4, 8, 15, 56, 10) + 0.5)
    assert isinstance(probe.result, Measurement)
    assert probe.result.throughput_bps == pytest.approx(RATE_BPS)
    assert probe.result.intervals[0].received_bytes == 1048576000


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_any_line_ends(read: Read, end: str) -> None:
    assert len(_probes(read(GRID, ROW, ROW.replace("800,10", "800,20"), end=end))) == 2


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(gzip.compress(f"{GRID}\n{ROW}\n".encode()))
    assert len(_probes(list(read_file(path)))) == 1


def test_what_is_not_known_is_not_set(read: Read) -> None:
    (probe,) = _probes(read(STREAMS, "a study,10485760,na,ws1,ws6,16,na,na,OFF,80,2"))
    assert probe.setting == {"parallelism": 16}
    assert (probe.files, probe.rtt_s, probe.bandwidth_bps, probe.buffer_bytes) == (None,) * 4


def test_pipelining_counted_from_nought_is_reported_by_study(read: Read) -> None:
    rows = [
        f"{note},10485760,8,ws1,ws6,1,1,{pipelining},OFF,8{number},"
        for number, (note, pipelining) in enumerate([("a", 0), ("b", 1), ("a", 4), ("b", 4)])
    ]
    probes = _probes(read(STREAMS, *rows))
    assert [probe.setting["pipelining"] for probe in probes] == [1, 1, 5, 4]


def test_times(read: Read) -> None:
    dated = [
        ROW.replace("2015-04-08", date).replace("15:56:00.5", time).replace("800,10", f"800,{s}")
        for date, time, s in [
            ("11/10/14", "13:01.2", 10),
            ("11/10/14", "14:17.7", 20),
            ("11/11/2014", "", 30),
            ("2014-11-12", "01:00:00", 40),
            ("2014-11-12", "25:00:00", 50),
            ("no date", "", 60),
            ("", "", 70),
        ]
    ]
    assert [probe.recorded_s for probe in _probes(read(GRID, *dated))] == [
        _when(2014, 11, 10) + 10,
        _when(2014, 11, 10) + 30,
        _when(2014, 11, 11) + 30,
        _when(2014, 11, 12, 1) + 40,
        _when(2014, 11, 12, 1) + 90,
        60,
        130,
    ]


def test_rows_that_are_refused(read: Read) -> None:
    bad = ROW.replace("800,10", "0,10")
    entries = read(GRID, *[bad] * 5, ROW, "nonsense", ROW.replace("Gordon", ""))
    assert [e for e in entries if isinstance(e, BadEntry)] == [
        BadEntry("line 2", "no throughput"),
        BadEntry("line 3", "no throughput"),
        BadEntry("line 4", "no throughput"),
        BadEntry("", "no throughput", 2),
        BadEntry("line 8", "unreadable"),
        BadEntry("", "it does not say which hosts it was between: name them with --pair"),
    ]


def test_a_given_pair(read: Read) -> None:
    pair = Pair("a", "b")
    probes = _probes(read(GRID, ROW, ROW.replace("Gordon", ""), pair=pair))
    assert [probe.pair for probe in probes] == [pair, pair]


def test_a_table_without_rows(read: Read) -> None:
    assert read(GRID) == [BadEntry("", "nothing follows its header")]


def test_importing_twice_stores_once(tmp_path: Path, read: Read) -> None:
    store = Store(tmp_path / "store")
    repeat = ROW.replace("15:56", "16:56")
    assert store.append_new(_probes(read(GRID, ROW, repeat, ROW))) == 2
    assert store.append_new(_probes(read(GRID, repeat, ROW))) == 0
