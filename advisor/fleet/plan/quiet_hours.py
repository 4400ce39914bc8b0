"""The hours of the week in which a host is left alone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

import msgspec

DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY_MIN: Final = 24 * 60
_SHOWN: Final = 3
"""Windows that are named in a sentence."""
_TIMES: Final = re.compile(r"(?:(\S+)\s+)?(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})")


_Moment = TypeVar("_Moment", int, float)


class Window(msgspec.Struct, frozen=True):
    """Quiet from `start_min` to `end_min` of local time, on days counted from Monday as 0.

    Minutes since midnight. An end at or before the start is on the day after.
    """

    days: tuple[int, ...]
    start_min: int
    end_min: int

    @classmethod
    def parse(cls, text: str) -> "Window":
        """`22:00-06:00`, `Mon-Fri 08:00-18:00`, `Sat,Sun 00:00-24:00`. Raises ValueError."""
        match = _TIMES.fullmatch(text.strip())
        if not match:
            raise ValueError("write hours as in Mon-Fri 08:00-18:00")
        days, *numbers = match.groups()
        start, end = _minutes(numbers[0], numbers[1]), _minutes(numbers[2], numbers[3])
        if start == _DAY_MIN:
            raise ValueError("a day begins at 00:00: write 00:00 for its start")
        return cls(_days(days), start, end)

    @property
    def length_min(self) -> int:
        """How long it is, in minutes of local time."""
        return (self.end_min - self.start_min - 1) % _DAY_MIN + 1

    def __str__(self) -> str:
        """As `parse` reads it."""
        hours = f"{_clock(self.start_min)}-{_clock(self.end_min)}"
        return hours if len(self.days) == len(DAYS) else f"{_day_words(self.days)} {hours}"


class QuietHours(msgspec.Struct, frozen=True):
    """Windows of every week in a time zone; zone names are those of the IANA database."""

    zone: str
    windows: tuple[Window, ...]

    def __str__(self) -> str:
        """The first windows and the zone, as in `Mon-Fri 08:00-18:00 Europe/Berlin`."""
        shown = ", ".join(map(str, self.windows[:_SHOWN]))
        more = len(self.windows) - _SHOWN
        return f"{shown}{f' and {more} more' if more > 0 else ''} {self.zone}"

    def following(self, at_s: float) -> tuple[float, float]:
        """Start and end of the quiet period that ends first after `at_s`, all in Unix time.

        Windows that overlap or touch are one period. It may have begun before `at_s`.
        """
        return next(one for one in _merged(_periods(self, at_s)) if one[1] > at_s)

    @property
    def share(self) -> float:
        """The part of an ordinary week that is quiet, in [0, 1]."""
        week_min = 7 * _DAY_MIN
        # Of two weeks the second: it has what began in the first.
        second = [(max(a, week_min), min(b, 2 * week_min)) for a, b in self._weeks()]
        return sum(max(0, b - a) for a, b in second) / week_min

    def longest_gap_s(self) -> float:
        """The longest time between two quiet periods of an ordinary week; 0 if there is none."""
        weeks = self._weeks()
        return 60.0 * max((b[0] - a[1] for a, b in pairwise(weeks)), default=0)

    def _weeks(self) -> list[tuple[int, int]]:
        """The periods of three weeks, merged, in minutes from the first Monday."""
        starts = [
            ((week * 7 + day) * _DAY_MIN + one.start_min, one.length_min)
            for one in self.windows
            for day in one.days
            for week in (0, 1, 2)
        ]
        return _merged((start, start + length) for start, length in starts)


def _periods(quiet: QuietHours, at_s: float) -> Iterator[tuple[float, float]]:
    """All periods from the day before `at_s` to eight days after it."""
    zone = ZoneInfo(quiet.zone)
    today = datetime.fromtimestamp(at_s, UTC).astimezone(zone).date()
    for offset in range(-2, 9):
        day = today + timedelta(days=offset)
        for window in quiet.windows:
            if day.weekday() in window.days:
                # Times of the clock on the wall: a night in which it is changed is an hour longer.
                first = datetime.combine(day, time(), zone) + timedelta(minutes=window.start_min)
                last = first + timedelta(minutes=window.length_min)
                yield first.timestamp(), last.timestamp()


def _minutes(hour: str, minute: str) -> int:
    total = int(hour) * 60 + int(minute)
    if int(minute) > 59 or total > _DAY_MIN:
        raise ValueError(f"{hour}:{minute} is not a time of day: write 00:00 to 24:00")
    return total


def _days(text: str | None) -> tuple[int, ...]:
    """`Mon-Fri`, `Sat,Sun`, `Mon,Wed-Fri`; every day for None."""
    if text is None:
        return tuple(range(7))
    found: list[int] = []
    for part in text.split(","):
        names = part.split("-")
        if not 1 <= len(names) <= 2 or any(name not in DAYS for name in names):
            raise ValueError(f"'{part}' names no day: write days as in Mon-Fri or Sat,Sun")
        first, last = DAYS.index(names[0]), DAYS.index(names[-1])
        found += [(first + step) % 7 for step in range((last - first) % 7 + 1)]
    return tuple(sorted(set(found)))


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _day_words(days: Sequence[int]) -> str:
    """Days in a row as the first and the last of them."""
    first = [day for day in days if day - 1 not in days]
    last = [day for day in days if day + 1 not in days]
    return ",".join(
        DAYS[a] if a == b else f"{DAYS[a]}-{DAYS[b]}" for a, b in zip(first, last, strict=True)
    )


def _merged(periods: Iterable[tuple[_Moment, _Moment]]) -> list[tuple[_Moment, _Moment]]:
    """In order, with those that overlap or touch made one."""
    merged: list[tuple[_Moment, _Moment]] = []
    for start, end in sorted(periods):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged
