"""What the report says about many pairs at a time: changes, limits, pairs without a result."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from advisor.domain.advice import Limit
from advisor.domain.printable import shortened
from advisor.domain.quantities import format_rate
from advisor.fleet.changes import Change, FactChange
from advisor.fleet.state.courses import Course
from advisor.report.fleet_changes import explained
from advisor.report.fleet_page.curves import Curve, chart
from advisor.report.times import utc_time

MOST_CHANGES: Final = 200
_MOST_WORDS: Final = 200
_MOST_EXPLANATIONS: Final = 50

Numbered = Sequence[tuple[int, Course]]


class ShownChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change, with the curve of its pair."""

    pair: int
    name: str
    task: str
    fell: bool
    factor: str
    rates: str
    times: str
    lines: list[str]
    curve: Curve
    top: str


class Explanation(msgspec.Struct, frozen=True):
    """A fact that changed with the rate of this many pairs. `where`: a host, or the path."""

    changes: int
    where: str
    what: str


class LimitGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What limits several pairs and is lifted in the same way. `where`: a host, or the path."""

    number: int
    where: str
    what: str
    remedy: str
    pairs: list[tuple[int, str]]


class Uncovered(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of one task without a result, for the same reason; destinations by source."""

    task: str
    reason: str
    number: int
    pairs: list[tuple[str, list[str]]]


def name_of(course: Course) -> str:
    """`ant → bee`."""
    return f"{course.pair.source} → {course.pair.destination}"


def changes_shown(numbered: Numbered, span_s: tuple[float, float]) -> list[ShownChange]:
    """The changes, those that were noticed last first."""
    found = [(change, number, course) for number, course in numbered for change in course.changes]
    found.sort(key=lambda one: (-one[0].noticed_s, one[1]))
    return [_change(*one, span_s) for one in found[:MOST_CHANGES]]


def _change(
    change: Change, number: int, course: Course, span_s: tuple[float, float]
) -> ShownChange:
    return ShownChange(
        pair=number,
        name=name_of(course),
        task=course.pair.task,
        fell=change.factor < 1,
        factor=f"{change.factor - 1:+.0%}",
        rates=f"{format_rate(change.before_bps)} to {format_rate(change.after_bps)}",
        times=f"since {utc_time(change.since_s)}, certain since {utc_time(change.noticed_s)}",
        lines=[shortened(line, _MOST_WORDS) for line in explained(change, _hosts(course))],
        curve=chart(course.points, course.changes, span_s),
        top=format_rate(_highest_bps(course)),
    )


def _hosts(course: Course) -> dict[str, str]:
    return {"source": course.pair.source, "destination": course.pair.destination}


def explanations(courses: Sequence[Course]) -> list[Explanation]:
    """What changed on hosts and paths together with rates, that of most pairs first."""
    found: Counter[tuple[str, FactChange]] = Counter()
    for course in courses:
        for fact in {fact for change in course.changes for fact in change.facts or ()}:
            where = _hosts(course).get(fact.where, "path")
            found[where, msgspec.structs.replace(fact, where=where)] += 1
    return [
        Explanation(
            number, where, shortened(f"{f.fact} was {f.before}, then {f.after}", _MOST_WORDS)
        )
        for (where, f), number in found.most_common(_MOST_EXPLANATIONS)
        if number > 1
    ]


def _highest_bps(course: Course) -> float:
    means = [rate for one in course.changes for rate in (one.before_bps, one.after_bps)]
    return max(*means, *(value for _, value in course.points))


def limit_groups(numbered: Numbered) -> tuple[list[LimitGroup], dict[int, list[int]]]:
    """The limits, those of most pairs first, and of each pair the numbers of its own."""
    found: dict[tuple[str, str], tuple[Limit, list[tuple[int, str]]]] = {}
    for number, course in numbered:
        for limit in course.limits or ():
            _, pairs = found.setdefault((_where(limit, course), limit.remedy), (limit, []))
            if not pairs or pairs[-1][0] != number:
                pairs.append((number, name_of(course)))
    groups = []
    of_pair: dict[int, list[int]] = {}
    in_order = sorted(found.items(), key=lambda one: (-len(one[1][1]), one[0]))
    for place, ((where, remedy), (limit, pairs)) in enumerate(in_order, 1):
        groups.append(
            LimitGroup(number=place, where=where, what=limit.what, remedy=remedy, pairs=pairs)
        )
        for number, _ in pairs:
            of_pair.setdefault(number, []).append(place)
    return groups, of_pair


def _where(limit: Limit, course: Course) -> str:
    if limit.side is None:
        return "path"
    return course.pair.source if limit.side == "source" else course.pair.destination


def uncovered(courses: Sequence[Course]) -> list[Uncovered]:
    """The pairs of these courses by the reason why they are not measured, most of them first."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for one in courses:
        reason = shortened(one.pair.reason or "it is not due yet", _MOST_WORDS)
        by_source = found.setdefault((one.pair.task, reason), {})
        by_source.setdefault(one.pair.source, []).append(one.pair.destination)
    return sorted(_groups(found), key=lambda one: (-one.number, one.task, one.reason))


def _groups(found: dict[tuple[str, str], dict[str, list[str]]]) -> Iterator[Uncovered]:
    for (task, reason), by_source in found.items():
        number = sum(map(len, by_source.values()))
        yield Uncovered(task=task, reason=reason, number=number, pairs=list(by_source.items()))
