"""How a fleet stands, as text and as JSON."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from advisor.domain.quantities import format_duration, format_rate
from advisor.fleet.state.rows import ALL, Attempt
from advisor.fleet.state.standing import FleetStanding, PairStanding
from advisor.report.output import say
from advisor.report.tables import print_table
from advisor.report.times import local_time

_MOST_ROWS: Final = 20
ATTEMPT_COLUMNS: Final = ("began", "outcome", "throughput", "why", "message")


def standing_data(found: FleetStanding) -> dict[str, Any]:
    """The fleet for JSON."""
    data: dict[str, Any] = msgspec.to_builtins(found)
    return data | {"missing": [pair_data(one) for one in found.missing]}


def pair_data(one: PairStanding) -> dict[str, Any]:
    """A pair for JSON; `due_s` null for never."""
    data: dict[str, Any] = msgspec.to_builtins(one)
    return data | {"due_s": one.due_s if math.isfinite(one.due_s) else None}


def print_standing(found: FleetStanding) -> None:
    """Print who works, what runs, what is left alone, and which pairs are missing."""
    say(
        f"Version {found.version}, applied by {found.applied_by} {_ago(found.applied_s, found)}."
        f" {found.measured} of {found.pairs} pairs measured, {found.due} due."
    )
    say()
    _table(
        "workers",
        ("worker", "account", "since"),
        [[one.name, one.account, _ago(one.started_s, found)] for one in found.workers],
        "no worker: nothing is measured",
    )
    _table(
        "running",
        ("source", "destination", "measure", "for", "why"),
        [_running(one, found) for one in found.running],
        "nothing is being measured",
    )
    down = [
        [one.host, str(one.failures), _ago(one.failed_s or 0.0, found), one.message]
        for one in found.down
    ]
    _table("down", ("host", "attempts", "last", "reason"), down)
    paused = [
        [one.host if one.host != ALL else "all", _until(one.until_s), one.paused_by]
        for one in found.pauses
    ]
    _table("paused", ("host", "until", "by"), paused)
    busy = [[host, _until(until_s)] for host, until_s in found.busy.items()]
    _table("in use by users", ("host", "left alone until"), busy)
    missing = [[one.source, one.destination, one.task, one.reason] for one in found.missing]
    _table("not measured yet", ("source", "destination", "measure", "reason"), missing)


def _table(title: str, columns: tuple[str, ...], rows: list[list[str]], without: str = "") -> None:
    if rows or without:
        say(f"{title}:" if rows else f"{title}: {without}")
    if rows:
        print_table(columns, rows[:_MOST_ROWS])
        if len(rows) > _MOST_ROWS:
            say(f"and {len(rows) - _MOST_ROWS} more: --json lists all")
        say()


def _running(one: Attempt, found: FleetStanding) -> list[str]:
    lasts = format_duration(max(0.0, found.now_s - one.began_s))
    return [one.source, one.destination, one.task, lasts, one.why]


def _ago(at_s: float, found: FleetStanding) -> str:
    return f"{format_duration(max(0.0, found.now_s - at_s))} ago"


def _until(until_s: float | None) -> str:
    return "resumed" if until_s is None else local_time(until_s)


def print_matrix(pairs: Sequence[PairStanding], now_s: float, *, ages: bool) -> None:
    """Print a row for each source and a column for each destination: what was reached, or ages."""
    show: Callable[[PairStanding], str] = (lambda one: age(one, now_s)) if ages else reached
    print_table(*matrix_rows(pairs, show))


def matrix_rows(
    pairs: Sequence[PairStanding], show: Callable[[PairStanding], str]
) -> tuple[tuple[str, ...], list[list[str]]]:
    """The columns and rows of a table of all pairs; `show`: what stands in a cell."""
    cells = {(one.source, one.destination): one for one in pairs}
    sources = list(dict.fromkeys(one.source for one in pairs))
    destinations = list(dict.fromkeys(sorted(one.destination for one in pairs)))
    rows = [
        [source, *(show(cells[source, to]) if (source, to) in cells else "" for to in destinations)]
        for source in sources
    ]
    return ("from \\ to", *destinations), rows


def reached(one: PairStanding) -> str:
    """What was measured last: a rate, or without one the round-trip time; why there is none."""
    if one.rate_bps is not None:
        return format_rate(one.rate_bps)
    if one.rtt_s is not None:
        return f"{1000 * one.rtt_s:.3g} ms"
    return "failed" if one.failures else "–"


def age(one: PairStanding, now_s: float) -> str:
    """How long ago it was measured."""
    if one.last_s is None:
        return "failed" if one.failures else "–"
    return format_duration(max(0.0, now_s - one.last_s))


def print_pair(one: PairStanding, attempts: Sequence[Attempt], now_s: float) -> None:
    """Print what is known of a pair, and its newest attempts."""
    say(f"{one.source}->{one.destination} {one.task}: {reached(one)}, {age(one, now_s)}")
    if one.stored_source:
        say(f"  in the history as {one.stored_source}->{one.stored_destination}")
    due = "due" if one.due_s <= now_s else f"due {local_time(one.due_s)}"
    say(f"  {due}{f': {one.reason}' if one.reason else ''}")
    if one.news != "none":
        say(f"  a change is {'suspected' if one.news == 'suspected' else 'certain'}")
    rows = [attempt_cells(attempt) for attempt in attempts]
    if rows:
        print_table(ATTEMPT_COLUMNS, rows)


def attempt_cells(one: Attempt) -> list[str]:
    """A measurement, in the columns of a table of them."""
    return [
        local_time(one.began_s),
        one.outcome or "runs",
        format_rate(one.rate_bps) if one.rate_bps else "",
        one.why,
        one.message,
    ]
