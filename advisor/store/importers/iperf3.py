"""Results of `iperf3 -J`: one JSON object per run, possibly several in a row.

The throughput is the receiver's count (`end.sum_received`). If the file is the receiver's own, its
intervals are used as they are. The sender's file has the receiver's total but only the sender's
intervals: the start-up is then found in those, and what was sent during it is subtracted from the
total. That subtracts slightly too much, since the last of it arrived later: the throughput is never
overestimated.

Without -P, -w, -C a run has one stream, the kernel's own buffers (`buffer_bytes` 0) and the
system's congestion control. Intervals that iperf3 was to omit are left out. The hosts are the
addresses of the connection, and for the server the name the client used.
"""

import json
import math
import statistics
from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.printable import ShownText, SystemName
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.hosts.decoding import BadData, require_shallow
from advisor.models.steadiness import start_up_length
from advisor.store.importers.entries import REFUSALS, BadEntry, RefusedError, identity, pair_of
from advisor.traits import imported_subject

ORIGIN: Final = "iperf3"
# TCP needs about ten round trips to grow from its initial window to that of a fast long path; a
# shorter run measures the round-trip time, not the capacity of the path.
_FEWEST_ROUND_TRIPS: Final = 10
# On a short path the scheduler and the last buffer matter as much as the path below this.
_SHORTEST_S: Final = 0.5


# Beyond any network and any date; larger values come from a damaged file.
_Count: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=2**62)]
_UnixTime: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=2**34)]


class _Connection(msgspec.Struct):
    local_host: str
    remote_host: str


class _Peer(msgspec.Struct):
    host: str


class _Timestamp(msgspec.Struct):
    timesecs: _UnixTime


class _TestStart(msgspec.Struct):
    protocol: str
    num_streams: int
    reverse: int = 0
    bidir: int = 0
    target_bitrate: _Count = 0


class _Start(msgspec.Struct):
    version: ShownText = ""
    connected: list[_Connection] = []
    timestamp: _Timestamp | None = None
    connecting_to: _Peer | None = None
    accepted_connection: _Peer | None = None
    sock_bufsize: int = 0
    test_start: _TestStart | None = None


class _Sum(msgspec.Struct):
    start: _Count
    end: _Count
    seconds: _Count
    bytes: _Count
    omitted: bool = False
    retransmits: int | None = None


class _IntervalStream(msgspec.Struct):
    pmtu: int = 0


class _Interval(msgspec.Struct):
    sum: _Sum
    streams: list[_IntervalStream] = []


class _Sender(msgspec.Struct):
    mean_rtt: _Count = 0


class _EndStream(msgspec.Struct):
    sender: _Sender = msgspec.field(default_factory=_Sender)
    diskfile: dict[str, Any] | None = None


class _End(msgspec.Struct):
    streams: list[_EndStream] = []
    sum_sent: _Sum | None = None
    sum_received: _Sum | None = None
    sum_received_bidir_reverse: _Sum | None = None
    sender_tcp_congestion: SystemName | None = None


class _Result(msgspec.Struct):
    start: _Start
    end: _End
    intervals: list[_Interval] = []
    error: str | None = None


def read(text: str, pair: Pair | None) -> Iterator[ProbeRecord | BadEntry]:
    """The probes of a file, and the results that are not imported. `pair` replaces theirs."""
    # NaN and Infinity are not JSON: as null they are refused like any other wrong value.
    decoder = json.JSONDecoder(parse_constant=lambda _: None)
    number, position = 0, _skip_blanks(text, 0)
    while position < len(text):
        number += 1
        began = position
        try:
            content, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            yield BadEntry(f"result {number}", _why_unreadable(text, position))
            return
        ended, position = position, _skip_blanks(text, position)
        try:
            require_shallow(text[began:ended].encode(errors="replace"))
            yield _probe(content, pair)
        except BadData as error:
            yield BadEntry(f"result {number}", f"it is not a result of iperf3 -J: {error}")
        except REFUSALS as refused:
            yield BadEntry.about(f"result {number}", refused)


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _why_unreadable(text: str, position: int) -> str:
    """Why no result starts at `position`."""
    rest = text[position:]
    try:
        json.loads(rest)
    except json.JSONDecodeError as error:
        line = text.count("\n", 0, position) + error.lineno
        if not rest[error.pos :].strip() or not rest.rstrip().endswith("}"):
            return f"the JSON ends early at line {line}: the run was interrupted"
        return f"the JSON is damaged at line {line}: {error.msg.lower()}"
    except (ValueError, RecursionError):
        pass
    return "it is not a result of iperf3 -J: its numbers or its nesting exceed all limits"


def _probe(content: Any, pair: Pair | None) -> ProbeRecord:
    if isinstance(content, dict) and "event" in content:
        raise RefusedError("it is a line of iperf3 --json-stream: import the output of iperf3 -J")
    try:
        result = msgspec.convert(content, _Result)
    except msgspec.ValidationError as error:
        raise RefusedError(f"it is not a result of iperf3 -J: {error}") from None
    test = _accepted_test(result)
    received = _received(result, test)
    congestion = result.end.sender_tcp_congestion
    setting: Setting = {"streams": test.num_streams, "buffer_bytes": result.start.sock_bufsize}
    if result.start.timestamp is None:
        raise RefusedError("it does not say when it was measured")
    measured = _measurement(result, received, _local_receives(result.start, test))
    return ProbeRecord(
        pair=pair or _pair(result.start, test),
        subject=imported_subject(ORIGIN),
        setting=setting | ({"congestion": congestion} if congestion else {}),
        result=measured,
        # The file has the time of the start; a record has that of the end.
        recorded_s=result.start.timestamp.timesecs + measured.elapsed_s,
        session=identity(json.dumps(content, sort_keys=True)),
        rtt_s=_rtt_s(result),
        mtu_bytes=_mtu_bytes(result),
        origin=ORIGIN,
    )


def _accepted_test(result: _Result) -> _TestStart:
    """The kind of run, if it can be imported."""
    if result.error:
        raise RefusedError(f"the run failed: {result.error}")
    test = result.start.test_start
    if test is None:
        raise RefusedError("the run ended before the test began")
    both_ways = bool(test.bidir) or result.end.sum_received_bidir_reverse is not None
    refusals = {
        f"it is a {test.protocol} test, not a transfer over TCP": test.protocol != "TCP",
        "it went in both directions at once, unlike a single transfer": both_ways,
        f"its rate was limited to {test.target_bitrate / 1e6:g} Mbit/s": test.target_bitrate > 0,
        "it has no streams": test.num_streams < 1,
        "it read or wrote a file, so it includes the disk": any(
            s.diskfile for s in result.end.streams
        ),
    }
    for why, applies in refusals.items():
        if applies:
            raise RefusedError(why)
    return test


def _received(result: _Result, test: _TestStart) -> _Sum:
    """The receiver's total, if it is long enough to describe the path."""
    received = result.end.sum_received
    if received is None:
        raise RefusedError("the run ended before the receiver's total was known")
    if not (received.bytes >= 1 and received.seconds > 0):
        raise RefusedError(
            "the receiver counted no bytes"
            if _knows_receiver(result.start, test)
            else "it lacks the receiver's count: import the receiver's or the client's file"
        )
    rtt_s = _rtt_s(result)
    shortest_s = max(_SHORTEST_S, _FEWEST_ROUND_TRIPS * (rtt_s or 0.0))
    if received.seconds < shortest_s:
        trips = f", {received.seconds / rtt_s:.1f} round trips" if rtt_s else ""
        raise RefusedError(
            f"it ended after {received.seconds:.2g} s{trips}: too short to show the path's rate"
        )
    return received


def _knows_receiver(start: _Start, test: _TestStart) -> bool:
    """A client receives the server's figures at the end; a server does not get the client's."""
    return start.accepted_connection is None or _local_receives(start, test)


def _local_receives(start: _Start, test: _TestStart) -> bool:
    """Whether the receiving end wrote the file: a -R client, or a server without -R."""
    is_server = start.accepted_connection is not None
    return bool(test.reverse) != is_server


def _pair(start: _Start, test: _TestStart) -> Pair:
    if not start.connected:
        raise RefusedError("it does not say which hosts it was between: name them with --pair")
    local, remote = start.connected[0].local_host, start.connected[0].remote_host
    if start.connecting_to is not None:
        remote = start.connecting_to.host
    ends = (remote, local) if _local_receives(start, test) else (local, remote)
    return pair_of(*ends)


def _rtt_s(result: _Result) -> float | None:
    """The mean over the streams of TCP's own estimate at the sender, which is in microseconds."""
    known = [s.sender.mean_rtt for s in result.end.streams if s.sender.mean_rtt > 0]
    return statistics.fmean(known) / 1e6 if known else None


def _mtu_bytes(result: _Result) -> int | None:
    known = [s.pmtu for i in result.intervals for s in i.streams if s.pmtu > 0]
    return known[-1] if known else None


def _measurement(result: _Result, received: _Sum, local_receives: bool) -> Measurement:
    kept = [i.sum for i in result.intervals if not i.sum.omitted and i.sum.seconds > 0]
    rates = _whole_rates(kept)
    startup = start_up_length(rates)
    intervals = _receiver_intervals(kept) if local_receives else []
    if not intervals:
        # A fast start at the sender only fills its own buffer: the receiver got none of that.
        if startup and statistics.fmean(rates[:startup]) > statistics.fmean(rates[startup:]):
            startup = 0
        intervals = _around_startup(kept[:startup], received)
        steady_from = len(intervals) - 1
    else:
        steady_from = startup
    steady = intervals[steady_from:]
    length_s = steady[-1].end_s - steady[0].start_s if steady else 0.0
    if length_s <= 0:
        raise RefusedError("its intervals contradict each other")
    throughput_bps = math.fsum(i.received_bytes for i in steady) * 8 / length_s
    return Measurement(
        throughput_bps=throughput_bps,
        stderr_bps=_stderr_bps(rates[startup:], throughput_bps),
        intervals=intervals,
        steady_from=steady_from,
        settled=False,
        elapsed_s=received.seconds
        + math.fsum(i.sum.seconds for i in result.intervals if i.sum.omitted),
        retransmits=result.end.sum_sent.retransmits if result.end.sum_sent else None,
        versions={"iperf3": result.start.version},
    )


def _whole_rates(sums: list[_Sum]) -> list[float]:
    """The rate of each interval, except a last one truncated by the end of the test."""
    if len(sums) > 1 and sums[-1].seconds < statistics.median(s.seconds for s in sums) / 2:
        sums = sums[:-1]
    return [s.bytes * 8 / s.seconds for s in sums]


def _receiver_intervals(sums: list[_Sum]) -> list[Interval]:
    return [Interval(s.start, s.end, int(s.bytes)) for s in sums if s.end > s.start]


def _around_startup(startup: list[_Sum], received: _Sum) -> list[Interval]:
    """The receiver's total in two parts, during and after the start-up; in one without it."""
    whole = Interval(0.0, received.seconds, int(received.bytes))
    if not startup:
        return [whole]
    sent, until_s = int(math.fsum(s.bytes for s in startup)), startup[-1].end
    if sent >= whole.received_bytes or until_s >= whole.end_s:
        return [whole]
    return [
        Interval(0.0, until_s, sent),
        Interval(until_s, whole.end_s, whole.received_bytes - sent),
    ]


def _stderr_bps(rates: list[float], throughput_bps: float) -> float:
    """The standard error of the steady mean; the mean itself where there is only one value."""
    if len(rates) < 2:
        return throughput_bps
    return statistics.stdev(rates) / math.sqrt(len(rates))
