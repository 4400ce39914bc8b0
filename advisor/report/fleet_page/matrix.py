"""The pairs of one task as a table of shades: from the host of a row to that of a column."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from advisor.domain.quantities import format_duration, format_rate
from advisor.fleet.state.courses import Course
from advisor.report.fleet_status import age, reached

SHADES: Final = 10
MOST_WITH_FIGURES: Final = 40
"""Columns up to which cells have figures; cells of more are small, with a title each."""

_UNITS: Final = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"))


class Cell(msgspec.Struct, frozen=True):
    """One pair. `pair`: its number, 0 where nothing is measured; `shades`: classes for the style.

    `figure`, `age`: what is written in it; `mark`: ✗ failed, ? never measured, ! changed, or "".
    """

    pair: int = 0
    shades: str = ""
    figure: str = ""
    age: str = ""
    mark: str = ""
    title: str = ""


class Row(msgspec.Struct, frozen=True):
    """All cells of a source."""

    source: str
    cells: list[Cell]


class Shade(msgspec.Struct, frozen=True):
    """An entry of the legend: a shade, and the values from which on it is used."""

    number: int
    figure: str
    age: str


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """A task's pairs. `has_figures`: whether they are written in the cells.

    `legend`: empty where nothing is measured.
    """

    task: str
    what: str
    unit: str
    columns: list[str]
    rows: list[Row]
    legend: list[Shade]
    has_figures: bool


class _Scale:
    """Shades and figures of the pairs of one task."""

    def __init__(self, courses: Sequence[Course], now_s: float) -> None:
        pairs = [one.pair for one in courses]
        self._now_s = now_s
        self.top_bps = max((one.rate_bps or 0.0 for one in pairs), default=0.0)
        self.longest_rtt_s = max((one.rtt_s or 0.0 for one in pairs), default=0.0)
        self.oldest_s = max((self._age_s(one.last_s) for one in pairs), default=0.0)
        self._scale, unit = next(
            ((scale, unit) for scale, unit in _UNITS if self.top_bps >= scale), (1.0, "bit/s")
        )
        self.unit = f"Throughput in {unit}" if self.top_bps else "Round-trip time in ms"

    def _age_s(self, last_s: float | None) -> float:
        return 0.0 if last_s is None else max(0.0, self._now_s - last_s)

    def cell(self, number: int, course: Course) -> Cell:
        """The cell of a pair."""
        one = course.pair
        title = f"{one.source} → {one.destination}: {reached(one)}"
        if one.last_s is None:
            return Cell(number, "", "", "", "✗" if one.failures else "?", f"{title}; {one.reason}")
        age_s = self._age_s(one.last_s)
        share = age_s / self.oldest_s if self.oldest_s else 0.0
        changed = bool(course.changes) or one.news == "changed"
        return Cell(
            number,
            f"v{_shade(self._share(one.rate_bps, one.rtt_s))} a{_shade(1.0 - share)}",
            self._figure(one.rate_bps, one.rtt_s),
            short_age(age_s),
            "✗" if one.failures else "!" if changed else "",
            f"{title}, {age(one, self._now_s)} ago",
        )

    def _share(self, rate_bps: float | None, rtt_s: float | None) -> float:
        if self.top_bps:
            return (rate_bps or 0.0) / self.top_bps
        return 1.0 - (rtt_s or 0.0) / self.longest_rtt_s if self.longest_rtt_s else 0.0

    def _figure(self, rate_bps: float | None, rtt_s: float | None) -> str:
        if rate_bps:
            return f"{rate_bps / self._scale:.3g}"
        return f"{1000 * rtt_s:.3g}" if rtt_s and not self.top_bps else "–"

    def legend(self) -> Iterator[Shade]:
        """From the least of each shade."""
        for number in range(SHADES):
            share = number / SHADES
            value = format_rate(share * self.top_bps) if number else "0 bit/s"
            if not self.top_bps:
                value = f"{1000 * (1.0 - share) * self.longest_rtt_s:.3g} ms"
            yield Shade(number, value, short_age((1.0 - share) * self.oldest_s))


def _shade(share: float) -> int:
    return min(SHADES - 1, max(0, int(share * SHADES)))


def short_age(age_s: float) -> str:
    """An age by its largest unit alone."""
    return " ".join(format_duration(age_s).split()[:2])


def matrix_of(
    task: str, what: str, courses: Sequence[tuple[int, Course]], hosts: Sequence[str], now_s: float
) -> Matrix:
    """The matrix of a task. `courses`: of it, with their numbers; `hosts`: in their order."""
    scale = _Scale([course for _, course in courses], now_s)
    cells = {(c.pair.source, c.pair.destination): scale.cell(number, c) for number, c in courses}
    sources, destinations = ({ends[n] for ends in cells} for n in (0, 1))
    columns = [host for host in hosts if host in destinations]
    return Matrix(
        task=task,
        what=what,
        unit=scale.unit,
        columns=columns,
        rows=[
            Row(source, [cells.get((source, to), Cell()) for to in columns])
            for source in hosts
            if source in sources
        ],
        legend=list(scale.legend()) if scale.top_bps or scale.longest_rtt_s else [],
        has_figures=len(columns) <= MOST_WITH_FIGURES,
    )
