"""The two hosts of a path side by side: each setting, its cost on this path, and its remedy."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from advisor.domain.advice import Limit, Side
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.models import host_tuning as ht
from advisor.models import limits as lim
from advisor.models.findings import Finding, Remedy, Severity

UNKNOWN: Final = "not known"

_AMPLE: Final = 2.0
"""The kernel uses a part of every buffer for its own bookkeeping, half of it by default: one that
is just large enough may not suffice."""

_BUFFERS: Final = (ht.RMEM_MAX, ht.WMEM_MAX, ht.TCP_RMEM, ht.TCP_WMEM)
_BUSY: Final = 0.5
_CLOCK_WATCH_S: Final = 1.0
_CLOCK_BAD_S: Final = 300.0
"""The clock offset from which new certificates are rejected as not yet valid."""

_CERTIFICATES: Final = "gsiftp:// may refuse a new proxy certificate as not yet valid"
_LOGS: Final = "the logs of both hosts cannot be compared"
_HEADERS_BYTES: Final = 52
"""Of IPv4 and of TCP with timestamps."""


def review(path: PathFacts) -> list[Finding]:
    """All rows, in the order of the screen: the path, its buffers, then the hosts.

    A buffer is judged where the data passes it: the send buffer at the source, the receive buffer
    at the destination. On loopback no buffer, link or frame size is judged.
    """
    met = {buffer.sysctl: buffer for buffer in lim.buffers(path)}
    return [
        _rtt(path),
        _mtu(path),
        _link(path),
        *(_buffer(path, met[name]) for name in _BUFFERS),
        _congestion(path),
        _qdisc(path),
        _cores(path),
        _clocks(path),
    ]


def _row(
    path: PathFacts, what: str, values: tuple[str | None, str | None], found: Iterable[Limit]
) -> Finding:
    """A row whose severity follows from its limits; unknown where a value is missing."""
    limits = [] if lim.is_loopback(path) else list(found)
    source, destination = values
    return Finding(
        what=what,
        source=UNKNOWN if source is None else source,
        destination=UNKNOWN if destination is None else destination,
        severity=_severity(limits, known=None not in values),
        cost="; ".join(dict.fromkeys(limit.what for limit in limits)),
        remedies=tuple(Remedy(limit.side, limit.remedy) for limit in limits),
    )


def _severity(limits: list[Limit], known: bool) -> Severity:
    if not limits:
        return Severity.GOOD if known else Severity.UNKNOWN
    binds = any(limit.ceiling_bps is not None for limit in limits)
    return Severity.BAD if binds else Severity.WATCH


def _both(
    path: PathFacts, text: Callable[[HostFacts], str | None]
) -> tuple[str | None, str | None]:
    return text(path.source), text(path.destination)


def _rtt(path: PathFacts) -> Finding:
    wanted_bps, rtt = lim.wanted_bps(path), format_duration(path.rtt_s)
    return Finding(
        what="RTT",
        source=f"{rtt} ({path.rtt_method})",
        destination="",
        severity=Severity.GOOD,
        cost=(
            f"{format_rate(wanted_bps)} × {rtt}: "
            f"{format_bytes(wanted_bps * path.rtt_s / 8)} must be in flight to fill the path"
        ),
    )


def _mtu(path: PathFacts) -> Finding:
    values = _both(path, lambda host: str(host.mtu_bytes) if host.mtu_bytes else None)
    row = _row(path, f"MTU (path {path.mtu_bytes})", values, lim.narrow_frames(path))
    fast = lim.wanted_bps(path) >= lim.JUMBO_FROM_BPS
    return msgspec.structs.replace(row, recommended=str(lim.JUMBO_MTU) if fast else "")


def _link(path: PathFacts) -> Finding:
    values = _both(path, lambda host: format_rate(host.link_bps) if host.link_bps else None)
    row = _row(path, "link", values, lim.slow_links(path))
    reserved = format_rate(path.bandwidth_bps) if path.bandwidth_bps else ""
    return msgspec.structs.replace(row, recommended=f"{reserved} or more" if reserved else "")


def _maximum_bytes(host: HostFacts, name: str) -> int | None:
    autotuned = host.tcp_rmem_bytes if name == ht.TCP_RMEM else host.tcp_wmem_bytes
    match name:
        case ht.RMEM_MAX:
            return host.receive_max_bytes
        case ht.WMEM_MAX:
            return host.send_max_bytes
        case _:
            return autotuned[2] if autotuned else None


def _buffer(path: PathFacts, buffer: lim.Buffer) -> Finding:
    name, wanted_bps = buffer.sysctl, lim.wanted_bps(path)
    maxima = (_maximum_bytes(path.source, name), _maximum_bytes(path.destination, name))
    source, destination = (format_bytes(size) if size else UNKNOWN for size in maxima)
    advised = ht.recommended(wanted_bps, path.rtt_s)
    row = Finding(
        what=name,
        source=source,
        destination=destination,
        severity=Severity.GOOD if buffer.maximum_bytes else Severity.UNKNOWN,
        recommended=format_bytes(advised.settings[name][-1]),
        reference=f"{advised.source} ({advised.as_of})",
    )
    ceiling_bps = buffer.ceiling_bps(path.rtt_s)
    if ceiling_bps is None or lim.is_loopback(path):
        return row
    if limit := lim.buffer_limit(buffer, path):
        return msgspec.structs.replace(
            row,
            severity=Severity.BAD,
            cost=limit.what,
            remedies=(Remedy(limit.side, limit.remedy),),
        )
    if ceiling_bps < _AMPLE * wanted_bps:
        return _barely_enough(row, buffer, path)
    return row


def _barely_enough(row: Finding, buffer: lim.Buffer, path: PathFacts) -> Finding:
    kept = format_bytes(buffer.maximum_bytes or 0)
    return msgspec.structs.replace(
        row,
        severity=Severity.WATCH,
        cost=(
            f"{kept} × {format_duration(path.rtt_s)} is "
            f"{format_rate(buffer.ceiling_bps(path.rtt_s) or 0)} if all of it held data, but the "
            "kernel uses up to half for itself"
        ),
        remedies=(Remedy(buffer.side, lim.larger_buffer(buffer, path)),),
    )


def _congestion(path: PathFacts) -> Finding:
    """The sender's: the receiver's congestion control does not affect what it receives."""
    used = path.source.congestion
    better = ht.slow_congestion(used) if used else None
    row = _row(path, "congestion control", _both(path, lambda host: host.congestion), ())
    if used is None:
        return msgspec.structs.replace(row, severity=Severity.UNKNOWN)
    if better is None:
        return msgspec.structs.replace(row, severity=Severity.GOOD)
    # One segment more each RTT, from half of what fills the path (RFC 5681, section 3.1).
    segments = lim.wanted_bps(path) * path.rtt_s / 8 / max(1, path.mtu_bytes - _HEADERS_BYTES)
    return msgspec.structs.replace(
        row,
        severity=Severity.WATCH,
        recommended=better.value,
        cost=(
            f"{better.reason}: here a single stream needs "
            f"{format_duration(segments / 2 * path.rtt_s)} to return to "
            f"{format_rate(lim.wanted_bps(path))}"
        ),
        remedies=(
            Remedy("source", ht.sysctl_line("net.ipv4.tcp_congestion_control", better.value)),
        ),
    )


def _qdisc(path: PathFacts) -> Finding:
    """The sender's: the receiver sends little except acknowledgements."""
    row = _row(path, "queueing", _both(path, lambda host: host.qdisc), lim.unpaced(path))
    if path.source.qdisc is None:
        return msgspec.structs.replace(row, severity=Severity.UNKNOWN, recommended=ht.PACING_QDISC)
    better = None if row.remedies else ht.unpaced_qdisc(path.source.qdisc)
    severity = row.severity if row.remedies else Severity.GOOD
    return msgspec.structs.replace(
        row,
        severity=severity,
        recommended=ht.PACING_QDISC,
        cost=row.cost or (better.reason if better else ""),
    )


def _cores(path: PathFacts) -> Finding:
    values = _both(
        path, lambda host: f"{host.cores}, load {host.load_1min:.1f}" if host.is_known else None
    )
    row = _row(path, "cores", values, [*lim.single_cores(path), *_loads(path)])
    return msgspec.structs.replace(row, recommended="2 or more, idle")


def _loads(path: PathFacts) -> Iterable[Limit]:
    """Hosts that are busy before the transfer."""
    sides: tuple[tuple[Side, HostFacts], ...] = (
        ("source", path.source),
        ("destination", path.destination),
    )
    for side, host in sides:
        if host.cores and host.load_1min >= _BUSY * host.cores:
            yield Limit(
                what=(
                    f"other work already keeps {min(1.0, host.load_1min / host.cores):.0%} of the "
                    f"{host.cores} cores busy"
                ),
                side=side,
                remedy="stop the other work there, or wait until it is done",
            )


def _clocks(path: PathFacts) -> Finding:
    offset_s = path.clock_offset_s
    row = Finding(
        what="clock offset",
        source="",
        destination=UNKNOWN if offset_s is None else _offset(offset_s),
        severity=Severity.UNKNOWN if offset_s is None else Severity.GOOD,
        recommended=f"below {format_duration(_CLOCK_WATCH_S)}",
    )
    if offset_s is None or abs(offset_s) < _CLOCK_WATCH_S:
        return row
    bad = abs(offset_s) >= _CLOCK_BAD_S
    return msgspec.structs.replace(
        row,
        severity=Severity.BAD if bad else Severity.WATCH,
        cost=f"clocks {format_duration(abs(offset_s))} apart: {_CERTIFICATES if bad else _LOGS}",
        remedies=(Remedy(None, "timedatectl set-ntp true"),),
    )


def _offset(offset_s: float) -> str:
    return f"{'-' if offset_s < 0 else '+'}{format_duration(abs(offset_s))}"
