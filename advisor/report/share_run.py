"""Text while several destinations are served, and at the end."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from advisor.domain import events as ev
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.shares import ServedRow, ShareOutcome, SharePurpose
from advisor.report.counting import counted
from advisor.report.share_names import shown

COLUMNS: Final = ("destination", "requested", "received", "requested share", "received share")


def started_line(event: ev.SharesStarted) -> str:
    """What starts."""
    epoch = format_duration(event.epoch_s)
    if event.lasts_s is not None:
        what = f"steps of at most {epoch}, {format_duration(event.lasts_s)} in all"
    else:
        names = shown(event.total_bytes)
        sizes = (f"{format_bytes(size)} to {names[to]}" for to, size in event.total_bytes.items())
        what = f"{', '.join(sizes)}; a control epoch is {epoch}"
    return (
        f"{event.source}: session {event.session}, {what}; starts with {_levels(event.concurrency)}"
        f" concurrent files, {counted(event.parallelism, 'stream')} each"
    )


def seen_line(event: ev.SharesSeen, purpose: SharePurpose = "run") -> str:
    """What each got in an epoch, or in a step of an experiment."""
    head = f"{'epoch' if purpose == 'run' else 'step'} {event.epoch}"
    names = shown(row.destination for row in event.rows)
    return f"  {head}: {', '.join(f'{names[row.destination]} {_got(row)}' for row in event.rows)}"


def _got(row: ServedRow) -> str:
    """`25.1 of 31.6 Mbit/s with 3`: measured rate, requested rate, concurrency."""
    if row.failure:
        return f"{row.failure} with {row.concurrency}"
    measured = format_rate(row.measured_bps)
    # For a destination held at a concurrency, the requested rate equals the measured one.
    if row.asked_bps is not None and row.asked_bps != row.measured_bps:
        asked = format_rate(row.asked_bps)
        number, unit = measured.split(" ")
        measured = f"{number if asked.endswith(f' {unit}') else measured} of {asked}"
    return f"{measured} with {row.concurrency}"


def changed_line(event: ev.SharesChanged) -> str:
    """The new concurrencies, and why."""
    return f"  epoch {event.epoch}: now {_levels(event.new)} ({event.reason})"


def destination_ended_line(event: ev.DestinationEnded, served: Iterable[str] = ()) -> str:
    """How one ended. `served`: all destinations of the session."""
    name = shown(served).get(event.destination, event.destination)
    return f"  {name}: {event.message}"


def _levels(levels: Mapping[str, int]) -> str:
    names = shown(levels)
    return ", ".join(f"{names[name]} {level}" for name, level in levels.items())


def outcome_rows(outcomes: Sequence[ShareOutcome]) -> list[list[str]]:
    """The table of what each was to get and got on average, under COLUMNS."""
    names = shown(one.destination for one in outcomes)
    asked_bps = sum(one.asked_bps or 0.0 for one in outcomes)
    rates_bps = sum(one.rate_bps for one in outcomes)
    return [
        [
            names[one.destination],
            format_rate(one.asked_bps or 0.0),
            format_rate(one.rate_bps),
            _part(one.asked_bps or 0.0, asked_bps),
            _part(one.rate_bps, rates_bps),
        ]
        for one in outcomes
    ]


def _part(rate_bps: float, of_bps: float) -> str:
    return f"{rate_bps / of_bps:.0%}" if of_bps else "none"
