"""Probes as throughput results of pScheduler, the scheduler of perfSONAR.

One JSON object a line, as pScheduler hands it to its archivers: `test` with its `spec` (schema 4),
`tool`, `participants`, `schedule`, `run`, and `result` (schema 1 of its test `throughput`). Rates
are those that arrived: what was sent is not known. Single streams have no figures. Intervals
before the steady part are marked as omitted, and `summary` is over the rest, as with iperf3's -O.
Round-trip times are in microseconds, as iperf3 has them.
"""

import ipaddress
import uuid
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from advisor.domain.measurement import Failure, Interval, Measurement
from advisor.domain.printable import HostName, fitting
from advisor.domain.records import ProbeRecord
from advisor.domain.space import flows_of

PROGRAM: Final = "advisor"
_DIAGS: Final = "measured by advisor: rates are those that arrived at the destination"
_TCP: Final = "TCP"
_KNOWN: Final = {"streams", "buffer_bytes", "congestion"}


def line_of(probe: ProbeRecord, version: str) -> str | None:
    """The line, without its end; None if the format cannot hold the probe.

    It has TCP from memory to memory, between hosts that have a name or an address. `version`: of
    advisor.
    """
    ends = [probe.pair.source, probe.pair.destination]
    is_held = probe.subject.upper() == _TCP and set(probe.setting) <= _KNOWN
    if not (is_held and all(map(_is_host, ends))):
        return None
    lasted_s = probe.result.elapsed_s
    began = _time(probe.recorded_s - lasted_s)
    document = {
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{probe.session} {probe.recorded_s} {ends}")),
        "schedule": {"start": began, "duration": _duration(lasted_s)},
        "test": {"type": "throughput", "spec": _spec(probe)},
        "tool": {"name": PROGRAM, "version": version},
        "run": {"start-time": began, "end-time": _time(probe.recorded_s)},
        "participants": ends,
        "result": _result(probe),
        "reference": {"session": probe.session},
    }
    return msgspec.json.encode(document).decode()


def _is_host(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return bool(fitting(name, HostName))
    return True


def _spec(probe: ProbeRecord) -> dict[str, Any]:
    setting = probe.setting
    spec: dict[str, Any] = {
        "schema": 4,
        "source": probe.pair.source,
        "dest": probe.pair.destination,
        "duration": _duration(probe.result.elapsed_s),
        "parallel": flows_of(setting),
    }
    if buffer_bytes := setting.get("buffer_bytes"):
        spec["window-size"] = buffer_bytes
    if congestion := setting.get("congestion"):
        spec["congestion"] = congestion
    return spec


def _result(probe: ProbeRecord) -> dict[str, Any]:
    if isinstance(probe.result, Failure):
        return _failure(probe.result)
    found = _measured(probe.result)
    if probe.mtu_bytes:
        found["mtu"] = probe.mtu_bytes
    if buffer_bytes := probe.setting.get("buffer_bytes"):
        found["requested-tcp-window-size"] = buffer_bytes
    return found


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "schema": 1,
        "succeeded": False,
        "error": failure.message,
        "diags": f"{failure.kind}: {failure.message}",
        "intervals": [],
        "summary": {"streams": []},
    }


def _measured(measured: Measurement) -> dict[str, Any]:
    steady = measured.intervals[measured.steady_from :]
    span_s = (steady[0].start_s, steady[-1].end_s) if steady else (0.0, measured.elapsed_s)
    summary = {
        "start": span_s[0],
        "end": span_s[1],
        "throughput-bits": measured.throughput_bps,
        "throughput-bytes": round(measured.throughput_bps * (span_s[1] - span_s[0]) / 8),
        "receiver-throughput-bits": measured.throughput_bps,
        "retransmits": measured.retransmits,
        "rtt": round(measured.rtt_s * 1e6) if measured.rtt_s else None,
    }
    return {
        "schema": 1,
        "succeeded": True,
        "diags": _DIAGS,
        "intervals": [
            {"streams": [], "summary": _interval(one, omitted=number < measured.steady_from)}
            for number, one in enumerate(measured.intervals)
        ],
        "summary": {"streams": [], "summary": summary},
    }


def _interval(one: Interval, *, omitted: bool) -> dict[str, Any]:
    return {
        "start": one.start_s,
        "end": one.end_s,
        "throughput-bits": one.throughput_bps,
        "throughput-bytes": one.received_bytes,
        "omitted": omitted,
    }


def _time(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="milliseconds")


def _duration(lasted_s: float) -> str:
    """ISO 8601, as in `PT4.25S`."""
    return f"PT{max(0.0, lasted_s):.3f}".rstrip("0").rstrip(".") + "S"
