"""ProbData's .PROF history: one line per one-time profiling, 17 blank-separated fields.

| fields | meaning |
|---|---|
| 1, 2 | source and destination, as IP addresses |
| 3 | month:day:year:hour:minute:second of the end, local time of some host, treated as UTC |
| 4, 5 | protocol (TCP or UDT), and the program that moved the data (iperf3 or tpg) |
| 6 | parallel streams |
| 7 | TCP: maximum segment size; UDT: packet size with its headers; both in bytes |
| 8, 9 | socket buffer (TCP) or UDT send buffer, and its unit: the first of the two sizes |
| 10, 11 | block given to one send call, and its unit; for TCP iperf3's constant 131072, not tuned |
| 12, 13 | requested duration, and its unit |
| 14, 15 | bytes moved, and their unit |
| 16, 17 | rate over the actual duration, and its unit |

The bytes are those the sender handed to its buffers, not those that arrived. A line is refused if
the buffers could hold so much of it that the rate says little about the path. In lines that advisor
wrote (probdata_lines.py) they are those that arrived. Some lines use Mbps
of 2^20 bit; these are detected by the bytes, which match the duration exactly then.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.printable import shortened
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.store.importers.entries import (
    REFUSALS,
    BadEntry,
    RefusedError,
    identity,
    pair_of,
    whole_transfer,
)
from advisor.store.probdata_lines import PROGRAM, TCP_HEADERS

FIELDS: Final = 17
ORIGIN: Final = "ProbData"
_DATE: Final = "%m:%d:%Y:%H:%M:%S"
_BYTES: Final = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SECONDS: Final = {"sec": 1.0, "s": 1.0, "min": 60.0}
_RATES: Final = {"bps": 1.0, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}
# The fraction of the bytes that buffers may hide: above it the error exceeds a good probe's.
_HIDDEN_SHARE: Final = 0.1
# The maximum relative difference between actual and requested duration.
_TIME_SHARE: Final = 0.25
_LONGEST_VERSION: Final = 100


def looks_like(line: str) -> bool:
    """Whether a line has the form of a ProbData record."""
    fields = line.split()
    return len(fields) == FIELDS and fields[2].count(":") == 5


def read(lines: Iterable[str], pair: Pair | None) -> Iterator[ProbeRecord | BadEntry]:
    """The probes of a .PROF file, and the lines that are not imported. `pair` replaces theirs."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _probe(line.split(), pair)
        except REFUSALS as refused:
            yield BadEntry.about(f"line {number}", refused)


def _probe(fields: list[str], pair: Pair | None) -> ProbeRecord:
    if len(fields) != FIELDS:
        raise RefusedError(f"{len(fields)} fields where a ProbData record has {FIELDS}")
    protocol = fields[3].upper()
    if protocol not in ("TCP", "UDT"):
        raise RefusedError(f"protocol {fields[3]!r} is neither TCP nor UDT")
    streams = _whole("streams", _number("streams", fields[5]))
    packet_bytes = _whole("segment or packet size", _number("segment or packet size", fields[6]))
    buffer_bytes = _whole("buffer", _quantity("buffer", fields[7:9], _BYTES))
    block_bytes = _whole("block", _quantity("block", fields[9:11], _BYTES))
    program, _, congestion = fields[4].partition(":")
    if protocol == "TCP":
        setting: Setting = {"streams": streams, "buffer_bytes": buffer_bytes}
        setting |= {"congestion": congestion} if congestion and program == PROGRAM else {}
    else:
        setting = {
            "block_bytes": block_bytes,
            "buffer_bytes": buffer_bytes,
            "mss_bytes": packet_bytes,
        }
        # UDT is tuned with one stream; more streams are another setting.
        setting |= {"streams": streams} if streams != 1 else {}
    return ProbeRecord(
        pair=pair or _pair(fields),
        subject=protocol.lower(),
        setting=setting,
        result=_measurement(fields, 0 if program == PROGRAM else streams * buffer_bytes),
        recorded_s=_time(fields[2]),
        session=identity(" ".join(fields)),
        mtu_bytes=packet_bytes + (TCP_HEADERS if protocol == "TCP" else 0),
        origin=ORIGIN,
    )


def _pair(fields: list[str]) -> Pair:
    return pair_of(fields[0], fields[1])


def _measurement(fields: list[str], buffered_bytes: int) -> Measurement:
    duration_s = _quantity("duration", fields[11:13], _SECONDS)
    moved_bytes = _whole("bytes moved", _quantity("bytes moved", fields[13:15], _BYTES))
    rate_bps = _quantity("rate", fields[15:17], _RATES)
    if buffered_bytes > _HIDDEN_SHARE * moved_bytes:
        raise RefusedError(
            f"the sender's buffers can hold {buffered_bytes} of the {moved_bytes} bytes it sent, "
            "so the rate says little about what arrived"
        )
    nominal_bps = moved_bytes * 8 / duration_s
    if abs(rate_bps * 2**20 / 1e6 / nominal_bps - 1) < 1e-4:
        rate_bps = nominal_bps
    if abs(rate_bps / nominal_bps - 1) > _TIME_SHARE:
        raise RefusedError(
            f"{moved_bytes} bytes in {duration_s:g} s is {nominal_bps / 1e6:.1f} Mbit/s, "
            f"but it says {fields[15]} {fields[16]}"
        )
    elapsed_s = moved_bytes * 8 / rate_bps
    return msgspec.structs.replace(
        whole_transfer(rate_bps, moved_bytes, elapsed_s),
        versions={"source": shortened(fields[4], _LONGEST_VERSION)},
    )


def _number(what: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise RefusedError(f"{what} {text!r} is not a number") from None
    if not 0 < number < 2**62:
        raise RefusedError(f"{what} {text!r} is out of range")
    return number


def _whole(what: str, number: float) -> int:
    if number < 1:
        raise RefusedError(f"{what} {number:g} is less than one")
    return int(number)


def _quantity(what: str, fields: list[str], units: dict[str, float] | dict[str, int]) -> float:
    text, unit = fields
    if unit not in units:
        raise RefusedError(f"{what} has unit {unit!r}, known are {', '.join(units)}")
    return _number(what, text) * units[unit]


def _time(text: str) -> float:
    try:
        return datetime.strptime(text, _DATE).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise RefusedError(f"date {text!r} is not month:day:year:hour:minute:second") from None
