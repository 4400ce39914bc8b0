"""The report on a fleet, rendered. Whatever comes from the database is text: it is escaped."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Final

import msgspec
from jinja2 import Environment, StrictUndefined

from advisor.domain.printable import shortened
from advisor.domain.quantities import format_duration, format_rate, format_rates
from advisor.fleet.plan.fleet import Fleet
from advisor.fleet.state.courses import Course
from advisor.fleet.state.rows import ALL
from advisor.fleet.state.standing import FleetStanding
from advisor.report.fleet_page.curves import SPARK_HEIGHT, SPARK_WIDTH, Curve, spark
from advisor.report.fleet_page.findings import (
    MOST_CHANGES,
    Numbered,
    changes_shown,
    explanations,
    limit_groups,
    name_of,
    uncovered,
)
from advisor.report.fleet_page.matrix import matrix_of
from advisor.report.fleet_status import age, reached
from advisor.report.times import utc_time

_OPEN_UP_TO: Final = 30
"""Pairs up to which all curves are unfolded."""
_MOST_WORDS: Final = 200


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """A pair in the list. `limits`: what limits it, each with the number of its group."""

    number: int
    name: str
    task: str
    reached: str
    rtt: str
    age: str
    due: str
    curve: Curve | None
    spread: str
    limit: str
    limits: list[int]
    state: str
    notes: list[str]


class Source(msgspec.Struct, frozen=True):
    """The pairs of one source."""

    host: str
    measured: int
    pairs: list[PairRow]


def report_page(
    fleet: Fleet, standing: FleetStanding, courses: Sequence[Course], since_s: float
) -> str:
    """The report as HTML. `courses`: of all pairs, since then in Unix time at the earliest."""
    numbered = list(enumerate(courses, 1))
    first_s = min((at_s for one in courses for at_s, _ in one.points), default=since_s)
    span_s = first_s, standing.now_s
    groups, of_pair = limit_groups(numbered)
    hosts = [host.name for host in fleet.hosts]
    rows = [_row(n, c, of_pair.get(n, []), span_s) for n, c in numbered]
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = _own("style.css")
    return environment.from_string(_own("template.html")).render(
        style=style,
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        standing=standing,
        made=utc_time(standing.now_s),
        since=utc_time(first_s),
        hosts=len(hosts),
        tiles=_tiles(standing, courses),
        alerts=list(_alerts(standing)),
        matrices=[
            matrix_of(task.name, task.what, own, hosts, standing.now_s)
            for task in fleet.tasks
            if (own := [one for one in numbered if one[1].pair.task == task.name])
        ],
        changes=changes_shown(numbered, span_s),
        explanations=explanations(courses),
        changes_in_all=sum(len(one.changes) for one in courses),
        most_changes=MOST_CHANGES,
        limits=groups,
        without_limits=_without_limits(numbered),
        missing=uncovered([one for one in courses if one.pair.last_s is None]),
        failing=uncovered([one for one in courses if one.pair.last_s and one.pair.failures]),
        sources=_sources(rows, courses),
        unfolded=len(courses) <= _OPEN_UP_TO,
        spark_width=SPARK_WIDTH,
        spark_height=SPARK_HEIGHT,
    )


def _own(name: str) -> str:
    return (files("advisor.report.fleet_page") / name).read_text(encoding="utf-8")


def _tiles(standing: FleetStanding, courses: Sequence[Course]) -> list[tuple[str, str]]:
    changed = sum(bool(one.changes) for one in courses)
    failing = sum(one.pair.failures > 0 for one in courses)
    return [
        (f"{standing.measured:,} of {standing.pairs:,}", "pairs measured"),
        (f"{standing.due:,}", "due now"),
        (f"{changed:,}", "changed"),
        (f"{failing:,}", "failing"),
        (f"{len(standing.down):,}", "hosts down"),
        (f"{len(standing.workers):,}", "workers"),
    ]


def _alerts(standing: FleetStanding) -> Iterator[str]:
    for pause in standing.pauses:
        what = "The whole fleet" if pause.host == ALL else pause.host
        until = f"until {utc_time(pause.until_s)}" if pause.until_s else "until it is resumed"
        yield f"{what} is paused by {pause.paused_by} {until}."
    for down in standing.down:
        words = shortened(down.message, _MOST_WORDS)
        yield f"{down.host} cannot be reached, tried {down.failures} times: {words}"
    for host, until_s in standing.busy.items():
        until = utc_time(until_s)
        yield f"A user measures or moves files at {host}: it is left alone until {until}."


def _without_limits(numbered: Numbered) -> tuple[int, int]:
    """How many measured pairs have none that is known, and of how many nothing is recorded."""
    measured = [one.limits for _, one in numbered if one.pair.last_s is not None]
    return sum(one == [] for one in measured), sum(one is None for one in measured)


def _sources(rows: Sequence[PairRow], courses: Sequence[Course]) -> list[Source]:
    found: dict[str, list[tuple[PairRow, Course]]] = {}
    for row, course in zip(rows, courses, strict=True):
        found.setdefault(course.pair.source, []).append((row, course))
    return [
        Source(host, sum(c.pair.last_s is not None for _, c in own), [row for row, _ in own])
        for host, own in found.items()
    ]


def _row(number: int, course: Course, groups: list[int], span_s: tuple[float, float]) -> PairRow:
    one, now_s = course.pair, span_s[1]
    first = course.limits[0].what if course.limits else ""
    return PairRow(
        number=number,
        name=name_of(course),
        task=one.task,
        reached=reached(one),
        rtt=f"{1000 * one.rtt_s:.3g} ms" if one.rtt_s else "",
        age=f"{age(one, now_s)} ago" if one.last_s is not None else "never",
        due="now" if one.due_s <= now_s else f"in {format_duration(one.due_s - now_s)}",
        curve=spark(course.points, course.changes, span_s) if course.points else None,
        spread=_spread(course),
        limit=shortened(first, _MOST_WORDS),
        limits=groups,
        state="failed" if one.failures else "changed" if course.changes else "",
        notes=list(_notes(course)),
    )


def _spread(course: Course) -> str:
    values = [value for _, value in course.points]
    if not values:
        return ""
    lowest, highest = min(values), max(values)
    if course.pair.rate_bps is None:
        span = f"{1000 * lowest:.3g} to {1000 * highest:.3g} ms"
    else:
        span = format_rate(highest) if lowest == highest else format_rates(lowest, highest)
    return f"{course.results} {'result' if course.results == 1 else 'results'}, {span}"


def _notes(course: Course) -> Iterator[str]:
    one = course.pair
    if course.changes:
        yield f"changed {utc_time(course.changes[-1].since_s)}"
    elif one.news != "none":
        yield "a change is suspected" if one.news == "suspected" else "a change is certain"
    if one.failures:
        yield f"failed {one.failures} {'time' if one.failures == 1 else 'times'}"
    if one.reason:
        yield shortened(one.reason, _MOST_WORDS)
