import io
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.store.exporters import write_csv, write_jsonl
from advisor.store.history import Store
from advisor.store.importers import (
    BadEntry,
    gridftp_usage,
    harp_csv,
    iperf3,
    own_csv,
    own_records,
    probdata,
    read_file,
    read_files,
)
from tests.unit.store.conftest import make_a_probe

# Lines in ProbData's form, with figures of our own: 2 streams of 64 KiB for 10 s at 80 Mbit/s.
TCP = "h1 h2 02:28:2020:23:59:58 TCP iperf3 2 1460 65536 B 131072 B 10 sec 100000000 B 80.0 Mbps"
UDT = "h1 h2 12:31:2020:00:00:01 UDT tpg 1 9000 1000000 B 89560 B 10 sec 100000000 B 79.0 Mbps"

Run = Callable[..., dict[str, Any]]
Read = Callable[..., list[ProbeRecord | BadEntry]]


def _sum(start: float, end: float, rate_bps: float, **more: Any) -> dict[str, Any]:
    seconds = end - start
    return {"start": start, "end": end, "seconds": seconds, "bytes": rate_bps * seconds / 8, **more}


@pytest.fixture
def run() -> Run:
    """A result as iperf3 -J prints it, changed where a test says: a slow second, then nine fast."""

    def make(
        start: dict[str, Any] | None = None,
        test: dict[str, Any] | None = None,
        end: dict[str, Any] | None = None,
        **top: Any,
    ) -> dict[str, Any]:
        rates = [8e6] + [80e6] * 9
        intervals = [
            {"sum": _sum(s, s + 1, rate, omitted=False), "streams": [{"pmtu": 1500}]}
            for s, rate in enumerate(rates)
        ]
        test_start = {"protocol": "TCP", "num_streams": 4, "omit": 0, "reverse": 0} | (test or {})
        return {
            "start": {
                "connected": [{"local_host": "192.0.2.1", "remote_host": "192.0.2.2"}],
                "version": "iperf 3.12",
                "timestamp": {"timesecs": 1600000000},
                "connecting_to": {"host": "dtn2", "port": 5201},
                "sock_bufsize": 1048576,
                "test_start": test_start,
            }
            | (start or {}),
            "intervals": intervals,
            "end": {
                "streams": [{"sender": {"mean_rtt": 40000}}, {"sender": {"mean_rtt": 60000}}],
                "sum_sent": _sum(0, 10, 72.8e6, retransmits=7),
                "sum_received": {"start": 0, "end": 10.1, "seconds": 10.1, "bytes": 90000000},
                "sender_tcp_congestion": "cubic",
            }
            | (end or {}),
        } | top

    return make


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def take(*contents: Any, pair: Pair | None = None) -> list[ProbeRecord | BadEntry]:
        texts = [c if isinstance(c, str) else json.dumps(c, indent=1) for c in contents]
        path = tmp_path / "file"
        path.write_text("\n".join(texts))
        return list(read_file(path, pair))

    return take


def _measured(entry: ProbeRecord | BadEntry) -> tuple[ProbeRecord, Measurement]:
    assert isinstance(entry, ProbeRecord), entry
    assert isinstance(entry.result, Measurement)
    return entry, entry.result


def _why(entries: list[ProbeRecord | BadEntry]) -> str:
    (entry,) = entries
    assert isinstance(entry, BadEntry), entry
    return entry.why


def test_probdata_fields(read: Read) -> None:
    first, second = read(TCP, "", UDT)
    tcp, result = _measured(first)
    assert tcp.pair == Pair("h1", "h2")
    assert (tcp.subject, tcp.setting) == ("tcp", {"streams": 2, "buffer_bytes": 65536})
    assert tcp.recorded_s == 1582934398.0
    assert result.throughput_bps == 80e6
    assert sum(i.received_bytes for i in result.intervals) == 100000000
    assert tcp.mtu_bytes == 1500
    udt, result = _measured(second)
    assert udt.subject == "udt"
    assert udt.setting == {"block_bytes": 89560, "buffer_bytes": 1000000, "mss_bytes": 9000}
    # The rate over the time it took, not over the time asked for.
    assert result.throughput_bps == 79e6
    assert result.elapsed_s == pytest.approx(800e6 / 79e6)
    assert tcp.session.startswith("import:")
    assert tcp.session != udt.session


def test_probdata_rates_of_binary_megabits(read: Read) -> None:
    _, result = _measured(read(TCP.replace("80.0 Mbps", f"{80e6 / 2**20:.6f} Mbps"))[0])
    assert result.throughput_bps == 80e6
    assert result.elapsed_s == 10.0


def test_udt_with_several_streams_is_another_setting(read: Read) -> None:
    probe, _ = _measured(read(UDT.replace("tpg 1 ", "tpg 3 "))[0])
    assert probe.setting["streams"] == 3


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("TCP", "SCTP", "neither TCP nor UDT"),
        (" Mbps", "", "16 fields"),
        ("Mbps", "furlongs", "known are bps"),
        ("80.0", "eighty", "not a number"),
        ("80.0", "nan", "out of range"),
        ("80.0", "-80", "out of range"),
        ("80.0", "800.0", "but it says 800.0 Mbps"),
        ("iperf3 2", "iperf3 0", "out of range"),
        ("02:28:2020", "28:02:2020", "month:day:year"),
        ("65536 B", "50000000 B", "buffers can hold"),
        ("iperf3 2", "advisor 0.5", "streams 0.5 is less than one"),
        ("65536 B", "0.5 B", "buffer 0.5 is less than one"),
        (
            "iperf3 2 1460 65536 B 131072 B 10 sec 100000000 B",
            "advisor 2 1460 65536 B 131072 B 10 sec 0.5 B",
            "bytes moved 0.5 is less than one",
        ),
        ("h1", "h" * 256, "too long"),
    ],
)
def test_probdata_lines_that_are_refused(read: Read, old: str, new: str, why: str) -> None:
    good, bad, last = read(UDT, TCP.replace(old, new, 1), UDT)
    assert isinstance(good, ProbeRecord)
    assert isinstance(last, ProbeRecord)
    assert isinstance(bad, BadEntry)
    assert bad.place == "line 2"
    assert why in bad.why


def test_a_given_pair_replaces_that_of_the_file(read: Read, run: Run) -> None:
    pair = Pair("a", "b")
    for content in (TCP, run(), run(test={"reverse": 1})):
        assert _measured(read(content, pair=pair)[0])[0].pair == pair


def test_iperf3_as_the_sender_saw_it(read: Read, run: Run) -> None:
    probe, result = _measured(read(run())[0])
    assert probe.pair == Pair("192.0.2.1", "dtn2")
    assert probe.setting == {"streams": 4, "buffer_bytes": 1048576, "congestion": "cubic"}
    # Of its end, as every other record.
    assert probe.recorded_s == pytest.approx(1600000010.1, abs=1e-3)
    assert (probe.rtt_s, probe.mtu_bytes) == (0.05, 1500)
    assert (result.retransmits, result.versions) == (7, {"iperf3": "iperf 3.12"})
    # Received after the slow first second, in the time after it: not what was sent.
    assert result.steady_from == 1
    assert sum(i.received_bytes for i in result.intervals) == 90000000
    assert result.throughput_bps == pytest.approx((90000000 - 1000000) * 8 / 9.1)
    assert result.stderr_bps == 0


def test_iperf3_as_the_receiver_saw_it(read: Read, run: Run) -> None:
    probe, result = _measured(read(run(test={"reverse": 1}))[0])
    assert probe.pair == Pair("dtn2", "192.0.2.1")
    assert len(result.intervals) == 10
    assert result.steady_from == 1
    assert result.throughput_bps == pytest.approx(80e6)


def test_iperf3_as_the_server_saw_it(read: Read, run: Run) -> None:
    content = run(start={"accepted_connection": {"host": "192.0.2.2"}})
    del content["start"]["connecting_to"]
    probe, result = _measured(read(content)[0])
    assert probe.pair == Pair("192.0.2.2", "192.0.2.1")
    assert result.throughput_bps == pytest.approx(80e6)
    content["start"]["test_start"]["reverse"] = 1
    content["end"]["sum_received"]["bytes"] = 0
    assert "it lacks the receiver's count" in _why(read(content))


def test_the_omitted_part_is_before_the_end(read: Read, run: Run) -> None:
    content = run()
    content["intervals"][0]["sum"]["omitted"] = True
    probe, result = _measured(read(content)[0])
    assert (
        probe.recorded_s == 1600000000 + result.elapsed_s == pytest.approx(1600000011.1, abs=1e-3)
    )


def test_omitted_intervals_are_left_out(read: Read, run: Run) -> None:
    content = run()
    content["intervals"][0]["sum"]["omitted"] = True
    _, result = _measured(read(content)[0])
    assert result.steady_from == 0
    assert result.throughput_bps == pytest.approx(90000000 * 8 / 10.1)
    assert result.elapsed_s == pytest.approx(11.1)


def test_a_run_without_intervals_has_its_total(read: Read, run: Run) -> None:
    for reverse in (0, 1):
        _, result = _measured(read(run(test={"reverse": reverse}, intervals=[]))[0])
        assert result.throughput_bps == pytest.approx(90000000 * 8 / 10.1)
        assert result.stderr_bps == result.throughput_bps


def test_nothing_set_is_the_kernels_own(read: Read, run: Run) -> None:
    content = run(start={"sock_bufsize": 0}, end={"sender_tcp_congestion": None})
    probe, _ = _measured(read(content)[0])
    assert probe.setting == {"streams": 4, "buffer_bytes": 0}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"error": "unable to connect to server"}, "the run failed: unable to connect to server"),
        ({"start": {"test_start": None}}, "before the test began"),
        ({"test": {"protocol": "UDP"}}, "a UDP test"),
        ({"test": {"bidir": 1}}, "both directions"),
        ({"end": {"sum_received_bidir_reverse": _sum(0, 1, 1)}}, "both directions"),
        ({"test": {"target_bitrate": 1000000}}, "limited to 1 Mbit/s"),
        ({"test": {"num_streams": 0}}, "no streams"),
        ({"end": {"streams": [{"diskfile": {"sent": 1}}]}}, "it includes the disk"),
        ({"end": {"sum_received": None}}, "before the receiver's total"),
        ({"end": {"sum_received": _sum(0, 10, 0)}}, "the receiver counted no bytes"),
        ({"end": {"sum_received": _sum(0, 0.4, 8e6)}}, "8.0 round trips: too short"),
        ({"end": {"streams": [], "sum_received": _sum(0, 0.4, 8e6)}}, "0.4 s: too short"),
        ({"start": {"timestamp": None}}, "when it was measured"),
        ({"start": {"connected": [], "connecting_to": None}}, "--pair"),
        ({"start": {"connected": [{"local_host": "", "remote_host": "b"}]}}, "empty, too long"),
        ({"start": []}, "not a result of iperf3 -J"),
        ({"end": {"sum_received": {"bytes": "many"}}}, "not a result of iperf3 -J"),
        ({"end": {"sum_received": _sum(0, 10, float("nan"))}}, "not a result of iperf3 -J"),
        ({"end": {"sum_received": _sum(0, 10, 1e300)}}, "not a result of iperf3 -J"),
        ({"start": {"timestamp": {"timesecs": 1e18}}}, "not a result of iperf3 -J"),
    ],
)
def test_runs_that_are_refused(read: Read, run: Run, changes: dict[str, Any], why: str) -> None:
    start = changes.get("start")
    content = run(**changes) if isinstance(start, dict | None) else run() | changes
    assert why in _why(read(content))


def test_intervals_that_contradict_each_other(read: Read, run: Run) -> None:
    content = run(test={"reverse": 1})
    content["intervals"] = [{"sum": _sum(5, 6, 8e6)}, {"sum": _sum(1, 2, 8e6)}]
    assert "contradict" in _why(read(content))


def test_a_receiver_that_counted_in_no_interval_after_the_start_up(read: Read, run: Run) -> None:
    content = run(test={"reverse": 1})
    for interval in content["intervals"][1:]:
        interval["sum"]["end"] = interval["sum"]["start"]
    assert "contradict" in _why(read(content))


@pytest.mark.parametrize(
    "error", [ValueError("a"), OverflowError("b"), ZeroDivisionError("c"), KeyError("d"),
              IndexError("e"), TypeError("f")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
@pytest.mark.parametrize("form", ["probdata", "iperf3", "jsonl", "csv", "usage"])
def test_damage_that_nobody_thought_of_costs_one_entry(
    read: Read, run: Run, monkeypatch: pytest.MonkeyPatch, form: str, error: Exception
) -> None:
    forms: dict[str, tuple[list[Any], ModuleType, str]] = {
        "probdata": ([TCP, UDT, TCP], probdata, "_probe"),
        "iperf3": ([run(), run(), run()], iperf3, "_probe"),
        "jsonl": (_written(write_jsonl), own_records, "_record"),
        "csv": (_written(write_csv), own_csv, "require_usable"),
        "usage": (_USAGE, gridftp_usage, "parse"),
    }
    contents, module, name = forms[form]
    really, calls = getattr(module, name), itertools.count(1)

    def parse(*arguments: Any) -> Any:
        if next(calls) == 2:
            raise error
        return really(*arguments)

    monkeypatch.setattr(module, name, parse)
    entries = read(*contents)
    [bad] = [one for one in entries if isinstance(one, BadEntry)]
    assert bad.place.split()[-1] == ("3" if form == "csv" else "2")
    assert type(error).__name__ in bad.why
    assert len(entries) == 3


def _written(write: Callable[..., object]) -> list[str]:
    write([make_a_probe(recorded_s=float(number)) for number in range(3)], text := io.StringIO())
    return [text.getvalue()]


_USAGE = [
    f"HOSTNAME=a START=2005022507{minute}26.0 END=2005022507{minute}36.0 NBYTES=1000000000"
    " STREAMS=2 STRIPES=1 TYPE=STOR CODE=226 DATAIP=192.0.2.7"
    for minute in (10, 20, 30)
]


def test_damage_between_entries_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(TCP)
    bad.write_text("FileSize,Throughput,Duration,CC\n1,1,1,1\n")

    def damaged(*_: object) -> None:
        raise LookupError("a row too few")

    monkeypatch.setattr(harp_csv, "timed", damaged)
    entries = list(read_files([good, bad, good]))
    assert [path for path, one in entries if isinstance(one, ProbeRecord)] == [good, good]
    assert "a row too few" in str([one for path, one in entries if path == bad][-1])


def test_several_results_in_one_file(read: Read, run: Run) -> None:
    other = run(start={"timestamp": {"timesecs": 1600000100}})
    first, failed, second, torn = read(
        run(), run(error="busy"), other, json.dumps(run(), indent=1)[:-300]
    )
    assert _measured(first)[0].session != _measured(second)[0].session
    assert isinstance(failed, BadEntry)
    assert failed.place == "result 2"
    assert isinstance(torn, BadEntry)
    assert (torn.place, "ends early" in torn.why) == ("result 4", True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("  \n", "it is empty"),
        ("\x1b[A", "not known"),
        ("Connecting to host h, port 5201\n[  5] local", "text for people"),
        ('{"start": {"version": "iperf 3.12', "ends early at line 1"),
        ('{"start": nonsense}', "damaged at line 1"),
        ('{"start": ' + "[" * 200000, "exceed all limits"),
        ('{"n": ' + "9" * 10000 + "}", "exceed all limits"),
        ('{"event":"start","data":{}}', "json-stream"),
        ("{}", "not a result of iperf3 -J"),
    ],
)
def test_files_that_are_something_else(read: Read, text: str, why: str) -> None:
    assert why in _why(read(text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "no such file" in _why(list(read_file(tmp_path / "missing")))
    assert "is a directory" in _why(list(read_file(tmp_path)))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "not text" in _why(list(read_file(tmp_path / "binary")))


def test_importing_twice_stores_once(tmp_path: Path, read: Read, run: Run) -> None:
    store = Store(tmp_path / "store")

    def take() -> int:
        entries = read(run(), run()) + read(TCP, TCP, UDT)
        return store.append_new(e for e in entries if isinstance(e, ProbeRecord))

    assert take() == 3
    assert take() == 0


@pytest.fixture
def real() -> Path:
    place = os.environ.get("ADVISOR_DATA")
    if not place:
        pytest.skip("ADVISOR_DATA does not name a directory with real measurements")
    return Path(place)


def test_real_iperf3_results(real: Path) -> None:
    files = sorted((real / "iperf3-json").glob("good-*.json"))
    assert files
    for path in files:
        total = json.loads(path.read_text())["end"]["sum_received"]
        (entry,) = read_file(path)
        if isinstance(entry, BadEntry):
            # What is refused moved 10 kB and was over within a few round trips.
            assert total["bytes"] < 100_000, path
            assert "too short" in entry.why or "no bytes" in entry.why, path
            continue
        _, result = _measured(entry)
        # Never under the receiver's mean, and above it only by a start-up that was left out.
        assert result.throughput_bps >= total["bits_per_second"] * 0.999, path
        assert result.throughput_bps <= total["bits_per_second"] * 1.5, path


def test_real_leftovers_of_iperf3(real: Path) -> None:
    files = sorted((real / "iperf3-json").glob("bad-*.res"))
    assert files
    for path in files:
        entries = list(read_file(path))
        probes = [e for e in entries if isinstance(e, ProbeRecord)]
        if probes:
            # A file with one whole result written twice: one measurement.
            assert len({p.session for p in probes}) == 1, path
        else:
            assert _why(entries), path


def test_real_probdata_history(real: Path) -> None:
    (path,) = (real / "probdata").glob("*.PROF")
    tcp, udt = (_measured(entry) for entry in read_file(path))
    assert tcp[0].setting == {"streams": 25, "buffer_bytes": 39804}
    assert tcp[1].throughput_bps == pytest.approx(9060762696 * 8 / 180)
    assert udt[0].setting == {"block_bytes": 99791, "buffer_bytes": 191936, "mss_bytes": 9000}
    assert udt[1].throughput_bps == pytest.approx(4240.840053e6)
