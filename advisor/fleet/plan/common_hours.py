"""Whether two hosts ever have the time of a measurement in common, by their quiet hours. Pure.

The planner begins one only while neither host is quiet, and only if both stay so for as long as it
may take. Times are minutes of a week in UTC, as bits of one number: two hosts are compared at once.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Final
from zoneinfo import ZoneInfo

from advisor.fleet.plan.fleet import Fleet, Task
from advisor.fleet.plan.quiet_hours import QuietHours

_WEEK_MIN: Final = 7 * 24 * 60
_WEEK: Final = (1 << _WEEK_MIN) - 1
_ALWAYS: Final = -1
"""Every bit: a host without quiet hours."""
_YEAR: Final = 2028
"""Zones differ by other hours in summer than in winter, and in weeks between: all are looked at.
The year is any one that is still to come, with the rules that are known now."""

_Offsets = Mapping[str, int]
"""Of each zone, in minutes ahead of UTC."""


class CommonHours:
    """Of the hosts of a fleet."""

    def __init__(self, fleet: Fleet) -> None:
        numbers: dict[QuietHours | None, int] = {}
        # Hosts with the same quiet hours are looked at once.
        self._kind = [numbers.setdefault(host.quiet, len(numbers)) for host in fleet.hosts]
        self._quiet = list(numbers)
        self._seasons = list(_seasons({quiet.zone for quiet in self._quiet if quiet is not None}))

    def without(self, task: Task) -> tuple[int, int] | None:
        """The first pair of the task that has no time for it, as (source, destination)."""
        # Whole minutes that are more than the time it takes: it is never begun on the dot.
        needed_min = int(task.longest_s // 60) + 1
        starts = [
            _ALWAYS if quiet is None else _starts(quiet, self._seasons, needed_min)
            for quiet in self._quiet
        ]
        kind = self._kind
        apart = {
            (one, other)
            for sources, destinations in task.blocks
            for one, other in product({kind[n] for n in sources}, {kind[n] for n in destinations})
            if not starts[one] & starts[other]
        }
        if not apart:
            return None
        return next(
            (pair for pair in task.pairs() if (kind[pair[0]], kind[pair[1]]) in apart), None
        )


def _seasons(zones: Collection[str]) -> Iterator[_Offsets]:
    """Every combination of offsets that these zones have on a day of a year."""
    found: set[tuple[int, ...]] = set()
    known = [ZoneInfo(zone) for zone in zones]
    for day in range(366):
        noon = datetime(_YEAR, 1, 1, 12, tzinfo=UTC) + timedelta(days=day)
        offsets = tuple(_offset_min(noon.astimezone(zone)) for zone in known)
        if offsets not in found:
            found.add(offsets)
            yield dict(zip(zones, offsets, strict=True))


def _offset_min(local: datetime) -> int:
    return round((local.utcoffset() or timedelta()) / timedelta(minutes=1))


def _starts(quiet: QuietHours, seasons: Collection[_Offsets], needed_min: int) -> int:
    """The minutes from which it is free for so long; a week of each season."""
    found = 0
    for offsets in seasons:
        found = found << _WEEK_MIN | _starts_of_week(quiet, offsets[quiet.zone], needed_min)
    return found


def _starts_of_week(quiet: QuietHours, offset_min: int, needed_min: int) -> int:
    held = 0
    for window in quiet.windows:
        minutes = (1 << window.length_min) - 1
        for day in window.days:
            held |= minutes << (day * 24 * 60 + window.start_min - offset_min) % _WEEK_MIN
    free = ~(held | held >> _WEEK_MIN) & _WEEK
    # One more week behind it, so that what begins on Sunday may end on Monday.
    found, known_min = free | free << _WEEK_MIN, 1
    while known_min < needed_min:
        more_min = min(known_min, needed_min - known_min)
        found &= found >> more_min
        known_min += more_min
    return found & _WEEK
