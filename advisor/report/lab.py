"""A lab, and the named paths, as text."""

import textwrap
from typing import Any

from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.lab.messages import Action, Crossing, Cut, HostStatus, LabStatus, SetLoad
from advisor.lab.paths import ENTRIES, Direction, EmulatedPath


def _direction(path: EmulatedPath, way: Direction) -> str:
    parts = [format_rate(way.rate_bps), f"queue {format_bytes(path.queue_bytes(way))}"]
    if way.loss:
        parts.append(f"loss {way.loss:g}")
        if way.burst_packets > 1:
            parts.append(f"in bursts of {way.burst_packets:g}")
    if way.jitter_s:
        parts.append(f"jitter {format_duration(way.jitter_s)}")
        if way.reordering:
            parts.append("reordering")
    return ", ".join(parts)


def path_text(path: EmulatedPath) -> str:
    """The path in one line: RTT, MTU, and each direction if they differ."""
    head = f"RTT {format_duration(path.rtt_s) if path.rtt_s else '0 ms'}, MTU {path.mtu_bytes}"
    forward, reverse = (_direction(path, way) for way in (path.forward, path.reverse))
    if forward == reverse:
        return f"{head}, {forward}"
    return f"{head}; there: {forward}; back: {reverse}"


def _crossing(label: str, seen: Crossing) -> str:
    parts = [f"{seen.packets} packets ({format_bytes(seen.bytes)}) carried"]
    parts.append(f"{seen.dropped} dropped")
    if seen.lost is not None:
        parts.append(f"{seen.lost} lost")
    if seen.cut:
        parts.append(f"{seen.cut} while cut")
    if seen.queue_bytes is not None:
        parts.append(f"queue {format_bytes(seen.queue_bytes)}")
    if seen.queue_most_bytes is not None:
        parts.append(f"at most {format_bytes(seen.queue_most_bytes)}")
    return f"    {label:6}{', '.join(parts)}"


def _host(host: HostStatus) -> list[str]:
    cut = "  CUT" if host.is_cut else ""
    lines = [f"  {host.name}  {host.address}{cut}", f"    {path_text(host.path)}"]
    if host.path.title:
        lines.append(f"    {host.path.title}")
    lines += [_crossing("there", host.forward), _crossing("back", host.reverse)]
    if host.gridftp_url:
        below = f", files below {host.gridftp_folder}" if host.gridftp_folder else ""
        lines.append(f"    GridFTP {host.gridftp_url}{below}")
    return lines


def _action(action: Action) -> str:
    where = f"{action.host}: " if action.host else ""
    if isinstance(action, Cut):
        return where + ("cut" if action.is_cut else "restore")
    if isinstance(action, SetLoad):
        counts = {"transfers": action.transfers, "compute": action.compute}
        return where + ", ".join(f"{n} {count}" for n, count in counts.items() if count is not None)
    said = action.changes.said
    words = {word: name for word, (name, _) in ENTRIES.items()}
    return where + ", ".join(
        f"{word} {_value(name, said[name])}" for word, name in words.items() if name in said
    )


def _value(name: str, value: Any) -> str:
    if name.endswith("_bps"):
        return format_rate(value)
    if name.endswith("_bytes"):
        return format_bytes(value)
    if name.endswith("_s"):
        return format_duration(value) if value else "0 ms"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}"


def status_text(status: LabStatus) -> str:
    """The whole status, as text."""
    rights = "in a user namespace" if status.user_namespace else "with root's rights"
    lines = [
        f"lab {status.name}: up for {format_duration(max(status.up_s, 0.001))}, {rights}, "
        f"paths by {status.backend}",
        f"  source  {status.source}",
    ]
    if status.own and status.own_forward and status.own_reverse:
        lines.append(f"    its interface, shared by all paths: {format_rate(status.own.rate_bps)}")
        lines += [_crossing("out", status.own_forward), _crossing("in", status.own_reverse)]
    for host in status.hosts:
        lines += _host(host)
    if status.transfers or status.compute:
        lines.append(f"  load: {status.transfers} transfers, {status.compute} computing")
    for step in status.schedule:
        what = "; ".join(_action(action) for action in step.actions)
        lines.append(f"  in {format_duration(max(step.at_s, 0.001))}: {what}")
    if status.lateness and status.lateness.most_s:
        lines.append(
            f"  packets come late by {format_duration(status.lateness.p99_s)} at most (99 of 100), "
            f"{format_duration(status.lateness.most_s)} (all)"
        )
    lines += [f"  without: {what}" for what in status.without]
    return "\n".join(lines)


def paths_text(paths: dict[str, EmulatedPath], columns: int) -> str:
    """The named paths with their parameters and the sources of their numbers."""
    blocks = []
    for name, path in paths.items():
        note = textwrap.wrap(path.note, columns, initial_indent="  ", subsequent_indent="  ")
        blocks.append("\n".join([f"{name}: {path.title}", f"  {path_text(path)}", *note]))
    return "\n\n".join(blocks)
