"""One line of text per event, for users who follow a session as text."""

from typing import Final

from advisor.domain import events as ev
from advisor.domain.file_io import Filesystem
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.report.connections import connections_lines
from advisor.report.evidence import evidence_lines
from advisor.traits import describe

_LABEL_COLUMNS: Final = 14


def line_of(event: ev.AnyEvent) -> str | None:
    """The line for an event; None for events that only move a bar."""
    match event:
        case ev.SessionStarted():
            verb = "resumed" if event.resumed else "begins"
            return (
                f"{event.pair}: session {event.session} {verb}, "
                f"{format_duration(event.budget_s)} for all probes together "
                f"(seed {event.seed})"
            )
        case ev.PathFound():
            return "\n".join(
                [_path_line(event.path), *(f"  limit: {x.what}" for x in event.limits)]
            )
        case ev.HistoryFound():
            return _history_lines(event)
        case ev.StageStarted():
            note = f": {event.space.note}" if event.space and event.space.note else ""
            return f"{event.stage}, up to {format_duration(event.budget_s)}{note}"
        case ev.ProbeEnded():
            return _probe_line(event)
        case ev.MethodMoved():
            return f"  {event.reason}"
        case ev.StageEnded():
            return f"{event.stage} ended after {event.probes} probes: {event.reason}"
        case ev.Waiting():
            where = "there" if event.side == "destination" else "here"
            return f"  waiting: another advisor is measuring {where} ({event.ahead} ahead)"
        case ev.Notice() | ev.GaveUp():
            return f"advisor: {event.message}"
        case _:
            return _other_line(event)


def _other_line(event: ev.AnyEvent) -> str | None:
    """The line for several connections, file plans, past transfers, and a watched path."""
    match event:
        case ev.ConnectionsFound():
            return "\n".join(connections_lines(event))
        case ev.SpaceMoved():
            return f"  round trip now {format_duration(event.rtt_s)}: {event.space.note}"
        case ev.FilesPlanned():
            return "\n".join(files_lines(event))
        case ev.EvidenceFound():
            return "\n".join(f"  {line}" for line in evidence_lines(event.evidence))
        case ev.RttSeen():
            return f"RTT {format_duration(event.rtt_s)}"
        case ev.MeasuredAtOnce():
            rates = " + ".join(map(format_rate, event.throughputs_bps))
            total = format_rate(sum(event.throughputs_bps))
            return f"      all at once   {rates} = {total}"
        case ev.ProfileStarted():
            return _profile_line(event)
        case _:
            return _order_line(event)


def _order_line(event: ev.AnyEvent) -> str | None:
    """The line for what the user ordered."""
    match event:
        case ev.Paused():
            return "  paused"
        case ev.Resumed():
            return "  resumed"
        case ev.BudgetExtended():
            left = format_duration(round(event.left_s))
            return f"  {format_duration(event.by_s)} more: {left} left"
        case _:
            return None


def _profile_line(event: ev.ProfileStarted) -> str:
    earlier = f", {event.earlier} of them measured before" if event.earlier else ""
    settings = sum(len(grid.settings) for grid in event.grids)
    return (
        f"{event.name}: {event.pair}: {settings} settings, {event.repeats} times each: "
        f"{event.probes} probes{earlier}, at most {format_duration(event.longest_s)} "
        f"(seed {event.seed})"
    )


def _path_line(path: PathFacts) -> str:
    parts = [
        f"path: RTT {format_duration(path.rtt_s)} ({path.rtt_method})",
        f"MTU {path.mtu_bytes} ({path.mtu_method})",
    ]
    if path.bandwidth_bps:
        parts.append(f"{format_rate(path.bandwidth_bps)} reserved")
    elif path.link_bps:
        parts.append(f"{format_rate(path.link_bps)} link")
    return ", ".join(parts)


def files_lines(plan: ev.FilesPlanned) -> list[str]:
    """What will be written where, and what remains of it: a headline, then one line per end."""
    after = (
        f"whole files that arrive stay in {plan.destination_path}, everything else is removed"
        if plan.keep
        else "they are removed again"
    )
    return [
        f"files: {plan.tool} copies parts of {plan.source_path} to {plan.folder} at the "
        f"destination, at most {format_bytes(plan.most_bytes)} at a time; {after}",
        f"  source: {_disk_words(plan.source, plan.source_io_bytes, 'read')}",
        f"  destination: {_disk_words(plan.destination, plan.destination_io_bytes, 'written')}",
        *(f"  {note}" for note in plan.notes),
    ]


def _disk_words(disk: Filesystem | None, io_bytes: int, done: str) -> str:
    if disk is None:
        return "not known, as no agent runs there"
    measured = (
        f"test files of at most {format_bytes(io_bytes)} are created there, {done} and removed"
        if io_bytes
        else "the disk is not measured separately"
    )
    return f"{disk.folder} ({disk.kind}, {format_bytes(disk.free_bytes)} free): {measured}"


def _history_lines(event: ev.HistoryFound) -> str:
    found = [past_words(result) for result in event.results]
    nothing = "nothing stored applies" if event.notes else "nothing stored for this pair"
    return "\n".join(f"history: {line}" for line in [*(found or [nothing]), *event.notes])


def past_words(past: ev.PastResult) -> str:
    """`TCP, 8 streams: 940 Mbit/s over 5 probes (spread 3 %), 2 d old`."""
    spread = "" if past.spread is None else f" (spread {past.spread:.0%})"
    caution = f"; {past.caution}" if past.caution else ""
    plural = "" if past.probes == 1 else "s"
    return (
        f"{describe(past.subject, past.setting)}: {format_rate(past.throughput_bps)} over "
        f"{past.probes} probe{plural}{spread}, {format_duration(past.age_s)} old{caution}"
    )


def _probe_line(event: ev.ProbeEnded) -> str:
    label = f"{event.label:<14}" if len(event.label) <= _LABEL_COLUMNS else f"{event.label}:"
    head = f"  {event.ordinal:3d} {label} {describe(event.subject, event.setting)}"
    result = event.result
    if not isinstance(result, Measurement):
        again = ", retried" if event.retried else ""
        return f"{head}: {result.kind}{again}: {result.message}"
    extra = []
    if result.retransmits:
        extra.append(f"{result.retransmits} retransmits")
    if clamped := _clamped(event):
        extra.append(clamped)
    if result.predicted:
        extra.append("predicted from its losses")
    if not result.settled:
        extra.append("not settled")
    words = f" ({', '.join(extra)})" if extra else ""
    return f"{head}: {format_rate(result.throughput_bps)}{words}"


def _clamped(event: ev.ProbeEnded) -> str:
    """The buffer of which the kernel granted less than requested."""
    asked = event.setting.get("buffer_bytes", 0)
    if not isinstance(event.result, Measurement) or isinstance(asked, str) or not asked:
        return ""
    # libudt rounds down to whole packets, which is not worth reporting.
    small = [size for size in event.result.granted.values() if size < 0.95 * asked]
    return f"only {format_bytes(min(small))} granted" if small else ""
