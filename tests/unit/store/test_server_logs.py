"""Transfer logs and usage records of GridFTP servers.

tests/data/gridftp/transfers.log is what globus-gridftp-server 13.24 wrote with -Z while
globus-url-copy 10.12 moved eight files of 120 MB with 2 streams each, in this order: to the server
with -cc 4, with -pp, with -cc 2, and with -cc 2 -tcp-bs 1M; from it with -cc 4, with -pp, and with
neither and one stream; then two seconds of /dev/zero with -p 4, one file from and to the server at
once, and an empty file. Names of hosts and folders are made up.
"""

import gzip
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
from advisor.store.importers import BadEntry, read_file, read_files
from advisor.store.importers.server_logs import time_of

SAMPLE = Path(__file__).parents[2] / "data/gridftp/transfers.log"
TO_SERVER = Pair("192.0.2.7", "dtn1.example.org")
FROM_SERVER = Pair("dtn1.example.org", "192.0.2.7")

Read = Callable[..., list[ProbeRecord | BadEntry]]


def log_line(**changes: str) -> str:
    fields = {
        "DATE": "20041209222014.654321",
        "HOST": "dtn1.example.org",
        "PROG": "globus-gridftp-server",
        "NL.EVNT": "FTP_INFO",
        "START": "20041209222004.154321",
        "USER": "ann",
        "FILE": "/data/a file",
        "BUFFER": "235104",
        "BLOCK": "262144",
        "NBYTES": "1050000000",
        "VOLUME": "/",
        "STREAMS": "4",
        "STRIPES": "1",
        "DEST": "[192.0.2.7]",
        "TYPE": "RETR",
        "CODE": "226",
        "TASKID": "none",
        "retrans": "1,0,2,0",
    } | {name.replace("_", "."): value for name, value in changes.items()}
    return " ".join(f"{name}={value}" for name, value in fields.items() if value != "-")


def usage_line(**changes: str) -> str:
    fields = {
        "HOSTNAME": "dtn1.example.org",
        "START": "20050225073026.426286",
        "END": "20050225073036.426286",
        "VER": '"0.17 (gcc32dbg, 1108765962-1)"',
        "BUFFER": "16000",
        "BLOCK": "262144",
        "NBYTES": "1000000000",
        "STREAMS": "2",
        "STRIPES": "1",
        "TYPE": "STOR",
        "CODE": "226",
        "DATAIP": "192.0.2.7",
    } | changes
    return " ".join(f"{name}={value}" for name, value in fields.items() if value != "-") + " "


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def take(*lines: str, pair: Pair | None = None) -> list[ProbeRecord | BadEntry]:
        path = tmp_path / "file"
        path.write_text("".join(f"{line}\n" for line in lines))
        return list(read_file(path, pair))

    return take


def _probes(entries: list[ProbeRecord | BadEntry]) -> list[ProbeRecord]:
    return [entry for entry in entries if isinstance(entry, ProbeRecord)]


def _only(entries: list[ProbeRecord | BadEntry]) -> tuple[ProbeRecord, Measurement]:
    (entry,) = entries
    assert isinstance(entry, ProbeRecord), entry
    assert isinstance(entry.result, Measurement)
    return entry, entry.result


def _why(entries: list[ProbeRecord | BadEntry]) -> str:
    (entry,) = entries
    assert isinstance(entry, BadEntry), entry
    return entry.why


def test_what_a_server_really_wrote() -> None:
    entries = list(read_file(SAMPLE))
    probes = sorted(_probes(entries), key=lambda probe: probe.recorded_s)
    assert [(p.pair, p.files, p.setting) for p in probes] == [
        (TO_SERVER, 8, {"concurrency": 4, "parallelism": 2}),
        (TO_SERVER, 8, {"concurrency": 1, "parallelism": 2}),
        (TO_SERVER, 8, {"concurrency": 2, "parallelism": 2}),
        (TO_SERVER, 8, {"concurrency": 2, "parallelism": 2}),
        # On average: with eight files on four channels, the last ones are soon alone.
        (FROM_SERVER, 8, {"concurrency": 3, "parallelism": 2}),
        (FROM_SERVER, 8, {"concurrency": 1, "parallelism": 2}),
        (FROM_SERVER, 8, {"concurrency": 1, "parallelism": 1}),
        (TO_SERVER, 1, {"concurrency": 1, "parallelism": 4}),
    ]
    assert [probe.file_bytes for probe in probes[:7]] == [120_003_500] * 7
    assert Counter(entry.why for entry in entries if isinstance(entry, BadEntry)) == {
        "it is a listing or another command, not a file": 3,
        "no bytes were moved": 1,
        "it took less than 1 s: too short to show a rate": 2,
    }


def test_a_line_of_a_log(read: Read) -> None:
    probe, result = _only(read(log_line()))
    assert (probe.pair, probe.subject, probe.origin) == (
        FROM_SERVER,
        "globus-url-copy",
        "gridftp-log",
    )
    assert probe.setting == {"concurrency": 1, "parallelism": 4}
    assert (probe.files, probe.file_bytes, probe.buffer_bytes) == (1, 1_050_000_000, None)
    assert probe.recorded_s == pytest.approx(1102630814.654321)
    assert result.throughput_bps == pytest.approx(800e6)
    assert result.elapsed_s == pytest.approx(10.5)
    assert [i.received_bytes for i in result.intervals] == [1_050_000_000]
    assert result.retransmits == 3


@pytest.mark.parametrize(
    "retransmits",
    ["9" * 5000, "1," + "9" * 20, "x", f"{2**62},1"],
    ids=["long", "one long", "none", "large"],
)
def test_damaged_retransmits_cost_one_line(read: Read, retransmits: str) -> None:
    later = {"START": "20041209223004.154321", "DATE": "20041209223014.654321"}
    entries = read(log_line(), log_line(retrans=retransmits), log_line(**later))
    assert len(_probes(entries)) == 2
    [bad] = [entry for entry in entries if isinstance(entry, BadEntry)]
    assert bad.place == "line 2"


def test_directions(read: Read) -> None:
    for kind, pair in (
        ("RETR", FROM_SERVER),
        ("ERET", FROM_SERVER),
        ("STOR", TO_SERVER),
        ("ESTO", TO_SERVER),
    ):
        probe, result = _only(read(log_line(TYPE=kind)))
        assert probe.pair == pair
        # What the receiver sent again were no data.
        assert (result.retransmits is None) == (pair == TO_SERVER)


@pytest.mark.parametrize(
    "changes",
    [
        {"TASKID": "-", "retrans": "-"},
        {"retrans": "-"},
        {"TASKID": "0f7ec55a-ab48-11ee-be6c-f11924dc2d22"},
        {"PROG": "wuftpd", "DEST": "1[192.0.2.7]"},
        {"FILE": "/data/a BUFFER=1 BLOCK=2 NBYTES=3 VOLUME=/ name"},
        {"FILE": "/data/TYPE=STOR CODE=500"},
        {"FILE": "", "USER": ""},
        {"DATE": "20041209222014", "START": "20041209222004"},
    ],
)
def test_forms_of_lines(read: Read, changes: dict[str, str]) -> None:
    probe, result = _only(read(log_line(**changes)))
    assert (probe.pair, probe.setting["parallelism"]) == (FROM_SERVER, 4)
    assert sum(i.received_bytes for i in result.intervals) == 1_050_000_000


def test_a_servers_own_log(read: Read) -> None:
    stats = "[24775] Thu Jul 27 12:59:42 2023 :: Transfer stats: "
    other = "[24775] Thu Jul 27 12:59:42 2023 :: localhost:53768: [CLIENT ERROR]: MKD /tmp/"
    probe, _ = _only(read(other, stats + log_line(), other))
    assert probe.pair == FROM_SERVER


def test_microseconds_without_their_zeros() -> None:
    assert time_of("20070215110703.2102") == pytest.approx(1171537623.002102, abs=1e-6)
    assert time_of("20070215110703.200000") == pytest.approx(1171537623.2, abs=1e-6)
    assert time_of("20070215110703") == 1171537623


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"TYPE": "MLSD"}, "a listing"),
        ({"CODE": "426"}, "it failed"),
        ({"NBYTES": "0"}, "no bytes"),
        ({"NBYTES": "9" * 19}, "exceed all limits"),
        ({"STRIPES": "2"}, "striped"),
        ({"STREAMS": "0"}, "streams is out of range"),
        ({"START": "20041209222014.654322"}, "ends before it starts"),
        ({"START": "20040109222014.654321"}, "exceed all limits"),
        ({"START": "20041309222014.654321"}, "its date"),
        ({"START": "20041209222060.654321", "DATE": "20041209226100.1"}, "its date"),
        ({"START": "20041209222013.700000"}, "less than 1 s"),
        ({"DEST": "[0.0.0.0]"}, "--pair"),
        ({"HOST": ""}, "--pair"),
        ({"HOST": "h" * 256}, "too long"),
        ({"STREAMS": "four"}, "not a complete line"),
        ({"DEST": "-"}, "not a complete line"),
    ],
)
def test_lines_that_are_refused(read: Read, changes: dict[str, str], why: str) -> None:
    entries = read(log_line(USER="bob"), log_line(**changes))
    assert len(_probes(entries)) == 1
    (bad,) = (entry for entry in entries if isinstance(entry, BadEntry))
    assert (bad.place, why in bad.why) == ("line 2", True), bad


def test_a_torn_log(read: Read) -> None:
    lines = [log_line(), log_line(USER="bob")[:-100], "\ufffd\0\n", log_line()[50:]]
    entries = read(*lines)
    assert len(_probes(entries)) == 1
    assert {e.place for e in entries if isinstance(e, BadEntry)} == {"line 2", "line 3", "line 5"}


def test_a_given_pair_stands_for_unknown_hosts(read: Read) -> None:
    pair = Pair("a", "b")
    assert _only(read(log_line(DEST="[0.0.0.0]"), pair=pair))[0].pair == pair
    assert _only(read(usage_line(DATAIP="-"), pair=pair))[0].pair == pair


def test_names_in_any_encoding_and_long_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(
        log_line(FILE="/data/\xe9").encode("latin-1") + b"\n" + b"x" * 3_000_000 + b"\n\n"
    )
    entries = list(read_file(path))
    assert len(_probes(entries)) == 1
    assert [e for e in entries if isinstance(e, BadEntry)] == [
        BadEntry("line 2", "it is not a complete line of a GridFTP transfer log")
    ]


def test_a_transfer_over_rotated_logs(tmp_path: Path) -> None:
    whole = SAMPLE.read_text().splitlines(keepends=True)
    expected = {probe.session: probe for probe in _probes(list(read_file(SAMPLE)))}
    older, newer = tmp_path / "log.1.gz", tmp_path / "log"
    older.write_bytes(gzip.compress("".join(whole[:20]).encode()))
    newer.write_text("".join(whole[20:]))
    for files in ([older, newer], [newer, older]):
        found = _probes([entry for _, entry in read_files(files)])
        assert {probe.session: probe for probe in found} == expected


def test_logs_that_overlap(tmp_path: Path) -> None:
    whole = SAMPLE.read_text().splitlines(keepends=True)
    expected = {probe.session: probe for probe in _probes(list(read_file(SAMPLE)))}
    copy = tmp_path / "copy"
    copy.write_text("".join(whole[:30]))
    entries = [entry for _, entry in read_files([SAMPLE, copy])]
    assert {probe.session: probe for probe in _probes(entries)} == expected
    again = [e for e in entries if isinstance(e, BadEntry) and "read before" in e.why]
    assert len(again) == 30


def test_a_log_that_has_grown_is_not_stored_twice(tmp_path: Path) -> None:
    whole = SAMPLE.read_text().splitlines(keepends=True)
    store, log = Store(tmp_path / "store"), tmp_path / "log"
    stored = 0
    # Cut where the third transfer has three of its files.
    for lines in (whole[:19], whole, whole):
        log.write_text("".join(lines))
        stored += store.append_new(_probes(list(read_file(log))))
    assert stored == 8
    assert [p.files for p in store.probes(TO_SERVER)] == [8, 8, 3, 8, 1]


def test_lines_are_reported_as_they_are_read(tmp_path: Path) -> None:
    path, seen = tmp_path / "log", list[int]()
    path.write_text("\n".join(log_line(USER=f"user{n}") for n in range(3000)))
    list(read_files([path, path], seen=seen.append))
    assert seen == sorted(seen)
    assert seen[-1] == 2 * path.stat().st_size
    assert len(set(seen)) > 4


def test_damaged_compression(tmp_path: Path) -> None:
    lines = "".join(log_line(USER=f"user{n}", NBYTES=f"{n}777000000") + "\n" for n in range(1, 9))
    packed, path = gzip.compress(lines.encode()), tmp_path / "log.gz"
    for damaged in (packed[:-20], packed[:30]):
        path.write_bytes(damaged)
        (*_, bad) = list(read_file(path))
        assert "cannot be read" in str(getattr(bad, "why", ""))


def test_a_usage_record(read: Read) -> None:
    probe, result = _only(read(usage_line()))
    assert (probe.pair, probe.origin) == (TO_SERVER, "gridftp-usage")
    assert probe.setting == {"concurrency": 1, "parallelism": 2}
    assert result.throughput_bps == pytest.approx(800e6)
    assert probe.recorded_s == pytest.approx(1109316636.426286)
    assert _only(read(usage_line(DATAIP="-", CLIENTIP="192.0.2.7")))[0].pair == TO_SERVER


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"DATAIP": "-"}, "--pair"),
        ({"STREAMS": "-"}, "not a complete usage record"),
        ({"END": "today"}, "not a complete usage record"),
        ({"TYPE": "LIST"}, "a listing"),
        ({"CODE": "500"}, "it failed"),
    ],
)
def test_usage_records_that_are_refused(read: Read, changes: dict[str, str], why: str) -> None:
    entries = read(usage_line(USER="bob"), usage_line(**changes))
    assert len(_probes(entries)) == 1
    assert any(isinstance(entry, BadEntry) and why in entry.why for entry in entries)


def packet(text: str, program: int = 0, sender: bytes = b"\xc0\0\2\1") -> bytes:
    body = struct.pack("!HH16sI", program, 0, bytes(12) + sender[:4], 1109316637) + text.encode()
    return struct.pack("!H", len(sender)) + sender + struct.pack("!H", len(body)) + body


def test_packets_as_the_collector_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "07.gup"
    packets = [
        packet("", program=20),
        packet(usage_line()),
        packet(usage_line(STREAMS="8"), sender=bytes(16)),
    ]
    path.write_bytes(b"".join(packets))
    probes = _probes(list(read_file(path)))
    assert sorted(int(p.setting["parallelism"]) for p in probes) == [2, 8]
    path.write_bytes(b"".join(packets)[:-40])
    entries = list(read_file(path))
    assert len(_probes(entries)) == 1
    assert [e.why for e in entries if isinstance(e, BadEntry)] == [
        "it is not a complete usage record of a GridFTP server"
    ]


def test_lines_that_ran_into_each_other(read: Read) -> None:
    torn = log_line(USER="bob")
    entries = read(log_line(), torn[: torn.index("/data") + 3] + log_line(NBYTES="5", USER="eve"))
    assert len(_probes(entries)) == 1
    assert [entry.why for entry in entries if isinstance(entry, BadEntry)] == [
        "it is not a complete line of a GridFTP transfer log"
    ]


@pytest.mark.parametrize(
    "filling",
    ["x", " ", "DATE=", " FILE=", " BUFFER=1 BLOCK=1 NBYTES=1", '="', "A="],
)
def test_long_lines_take_no_longer_than_their_length(read: Read, filling: str) -> None:
    # What is quadratic in a line of a megabyte does not come to an end here.
    long = filling * (2**20 // len(filling))
    for whole in (log_line(), usage_line()):
        cut = whole[: whole.index("BUFFER")]
        assert len(_probes(read(whole, cut + long, long))) == 1
