"""A tuned transfer as text."""

from typing import Final

from advisor.domain import events as ev
from advisor.domain.advice import CameTrue, Fulfilment, PriorAdvice
from advisor.domain.plan import NodeProgress
from advisor.domain.quantities import format_bytes, format_duration, format_rate, format_rates
from advisor.domain.space import Setting
from advisor.report.time_left import time_left_text
from advisor.traits import subject_name, transports


def changed_line(event: ev.SettingChanged) -> str:
    """The throughput of an epoch, the setting after it, and why."""
    gave = format_rate(event.throughput_bps) if event.throughput_bps else "nothing"
    why = f" ({event.reason})" if event.reason else ""
    return f"  epoch {event.epoch}: {_levels(event.old)} gave {gave}, now {_levels(event.new)}{why}"


def started_line(event: ev.TransferStarted) -> str:
    """What starts, and where."""
    left = format_bytes(event.total_bytes - event.earlier_bytes)
    if event.nodes:
        return (
            f"{event.pair}: session {event.session}, {left} to move over "
            f"{_counted(event.nodes)}, each tuned by {event.method}; {_epoch_words(event)}"
        )
    tuned = f"tuned by {event.method}, {_epoch_words(event)}"
    return (
        f"{event.pair}: session {event.session}, {left} to move, starts at "
        f"{_levels(event.setting)} (concurrency × streams); "
        + ("fixed" if event.method == "fixed" else tuned)
        + (f"; {_prior_words(event.advised)}" if event.advised else "")
    )


def _counted(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"


def nodes_line(event: ev.NodesMoving) -> str:
    """How each node does."""
    return "  " + "; ".join(map(node_words, event.nodes))


def node_words(one: NodeProgress) -> str:
    """How one node does, or that it does not."""
    if one.state != "moving":
        return f"{one.pair} {one.state}"
    levels = f"{one.concurrency} × {one.parallelism}"
    return f"{one.pair} {format_rate(one.rate_bps)} at {levels}, {format_bytes(one.moved_bytes)}"


def _epoch_words(event: ev.TransferStarted) -> str:
    if event.decides:
        return "each control epoch ends when the rate difference is significant"
    return f"a control epoch is {format_duration(event.epoch_s)}"


def _prior_words(advice: PriorAdvice) -> str:
    rate = format_rate(advice.expected_bps)
    return f"session {advice.session} advised {rate}{measured_how(advice.subject)}"


def measured_how(subject: str) -> str:
    """` over TCP (memory to memory)`, after a throughput; "" for one from disk to disk."""
    if subject not in transports():
        return ""
    return f" over {subject_name(subject)} (memory to memory)"


def load_line(event: ev.LoadChanged) -> str:
    """The new external load of the lab."""
    return f"  external load: ext.tfr {event.transfers}, ext.cmp {event.compute}"


def _levels(setting: Setting) -> str:
    return f"{setting.get('concurrency', 1)} × {setting.get('parallelism', 1)}"


def progress_line(event: ev.FilesMoving) -> str:
    """`1.2 GiB of 10 GiB, ` and the text next to the bar."""
    [one] = event.classes
    moved = f"{format_bytes(one.moved_bytes)} of {format_bytes(one.total_bytes)}"
    return f"  {moved}, {beside_the_bar(event)}"


def beside_the_bar(event: ev.FilesMoving) -> str:
    """Rate, files, clients × streams, and the time left."""
    [one] = event.classes
    if event.phase == "verify":
        return format_rate(one.rate_bps)
    parts = [
        format_rate(one.rate_bps),
        f"{one.files} of {one.total_files} files",
        f"{one.clients} × {one.parallelism}",
        time_left_text(event),
    ]
    return ", ".join(part for part in parts if part)


def ended_lines(event: ev.TransferEnded) -> list[str]:
    """The result, and what is missing."""
    more = event.missing_files - len(event.missing)
    return [
        event.message,
        *(f"  {line}" for line in event.missing),
        *([f"  and {more} more"] if more else []),
        *([advised_line(event.advised)] if event.advised else []),
    ]


_CAME_TRUE: Final[dict[CameTrue, str]] = {
    "within": "as predicted",
    "above": "better than predicted",
    "below": "worse than predicted",
}


def advised_line(advised: Fulfilment) -> str:
    """Whether an earlier advice's prediction was met."""
    return (
        f"Session {advised.session} predicted {format_rates(*advised.interval_bps)}"
        f"{measured_how(advised.subject)}; measured: {format_rate(advised.rate_bps)}, "
        f"{_CAME_TRUE[advised.came_true]}"
    )
