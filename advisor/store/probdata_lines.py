"""Probes as lines of ProbData's .PROF; importers/probdata.py has the meaning of the fields.

What the format does not have is not written: the intervals, the search, the hosts' facts. A
congestion control follows the name of the program, as in `advisor:cubic`.
"""

from datetime import UTC, datetime
from typing import Final

from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.space import SettingValue

PROGRAM: Final = "advisor"
"""The program in lines of this one: their bytes and rates are those that arrived."""
TCP_HEADERS: Final = 40
_TCP_BLOCK_BYTES: Final = 131072
_KNOWN: Final = {
    "TCP": {"streams", "buffer_bytes", "congestion"},
    "UDT": {"block_bytes", "buffer_bytes", "mss_bytes", "streams"},
}


def line_of(probe: ProbeRecord) -> str | None:
    """The line, without its end; None if the format cannot hold the probe.

    It has no failures, no transfers of files, and no buffers that are left to the kernel.
    """
    setting, result = probe.setting, probe.result
    known = _KNOWN.get(probe.subject.upper())
    names = (probe.pair.source, probe.pair.destination)
    if known is None or not set(setting) <= known or not isinstance(result, Measurement):
        return None
    buffer_bytes = _count(setting.get("buffer_bytes", 0))
    packet_bytes = _packet_bytes(probe)
    if not (buffer_bytes and packet_bytes and result.throughput_bps) or _have_blanks(names):
        return None
    steady = result.intervals[result.steady_from :]
    lasted_s = steady[-1].end_s - steady[0].start_s if steady else result.elapsed_s
    block_bytes = _count(setting.get("block_bytes", _TCP_BLOCK_BYTES))
    when = datetime.fromtimestamp(probe.recorded_s, UTC)
    fields = [
        *names,
        when.strftime("%m:%d:%Y:%H:%M:%S"),
        probe.subject.upper(),
        _program(probe),
        str(_count(setting.get("streams", 1))),
        str(packet_bytes),
        *(str(buffer_bytes), "B"),
        *(str(block_bytes), "B"),
        *(repr(lasted_s), "sec"),
        *(str(round(result.throughput_bps * lasted_s / 8)), "B"),
        *(repr(result.throughput_bps), "bps"),
    ]
    return " ".join(fields)


def _have_blanks(names: tuple[str, ...]) -> bool:
    return any(len(name.split()) != 1 for name in names)


def _count(value: SettingValue) -> int:
    return value if isinstance(value, int) else 0


def _packet_bytes(probe: ProbeRecord) -> int:
    """UDT's packet, or TCP's largest segment; 0 where it is not known."""
    if packet_bytes := _count(probe.setting.get("mss_bytes", 0)):
        return packet_bytes
    return max(0, (probe.mtu_bytes or 0) - TCP_HEADERS)


def _program(probe: ProbeRecord) -> str:
    congestion = probe.setting.get("congestion")
    return f"{PROGRAM}:{congestion}" if congestion else PROGRAM
