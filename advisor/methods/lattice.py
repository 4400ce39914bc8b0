"""The settings of a space that a search may visit, numbered along every parameter.

The direct searches of the papers work on integers. Here the integers are places on a lattice: each
parameter has an ascending row of values, and a point is one place in each row, counted from 0. The
automatic value of a parameter is the last of its row. Where the space has an upper limit of flows,
only the points within it are visited: `bounded` projects onto them, so that a search knows which
setting is measured.
"""

import bisect
import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Final, TypeAlias

from advisor.domain.space import AUTOMATIC, Parameter, Scale, Setting, Space

Point: TypeAlias = tuple[int, ...]
"""A setting on a lattice: of each parameter the number of its value, from 0."""

MOST_COUNTED: Final = 256
SIZES: Final = 25


def step_values(parameter: Parameter) -> tuple[int, ...]:
    """The values one step apart, including both bounds.

    On a linear scale a step is one quantum, as for the counts in the papers. A parameter with more
    than MOST_COUNTED such values is a size rather than a count and gets SIZES evenly spaced ones:
    the iterative range of ProbData (2017). On a log2 scale a step is a doubling from the lower
    bound, and the last step ends at the upper bound.
    """
    lower, upper, last = parameter.lower, parameter.upper, _automatic(parameter)
    if parameter.only_bounds:
        return (lower, upper)
    if parameter.scale is Scale.LOG2:
        doublings = (lower << n for n in itertools.count())
        return (*itertools.takewhile(lambda value: value < upper, doublings), upper, *last)
    if (upper - lower) // parameter.quantum >= MOST_COUNTED:
        return spread_values(parameter, SIZES)
    return (*range(lower, upper, parameter.quantum), upper, *last)


def spread_values(parameter: Parameter, count: int) -> tuple[int, ...]:
    """At most `count` (2 or more) distinct values, evenly spaced on the scale, with the bounds.

    The automatic value is one more.
    """
    top = parameter.fraction_of(parameter.upper)
    spread = {parameter.value_at(i / (count - 1) * top) for i in range(count)}
    return (*sorted(spread), *_automatic(parameter))


def _automatic(parameter: Parameter) -> tuple[int, ...]:
    return (AUTOMATIC,) if parameter.automatic else ()


class Lattice:
    """The points of a space, from one row of ascending values per parameter."""

    def __init__(self, space: Space, rows: Sequence[Sequence[int]]) -> None:
        self.rows = tuple(tuple(row) for row in rows)
        self._space = space

    @classmethod
    def of_steps(cls, space: Space) -> "Lattice":
        """The lattice of single steps."""
        return cls(space, [step_values(p) for p in space.parameters])

    @classmethod
    def spread(cls, space: Space, count: int) -> "Lattice":
        """A coarse lattice: at most `count` (2 or more) values of every parameter."""
        return cls(space, [spread_values(p, count) for p in space.parameters])

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self._within) if self._within else math.prod(len(row) for row in self.rows)

    @cached_property
    def _within(self) -> list[Point]:
        """The points within the limit of flows, in order; empty where there is no limit."""
        if self._space.most_flows is None:
            return []
        every = itertools.product(*(range(len(row)) for row in self.rows))
        return [point for point in every if self._space.allows(self._values(point))]

    @property
    def movable(self) -> list[int]:
        """The indices of the parameters that have more than one value."""
        return [axis for axis, row in enumerate(self.rows) if len(row) > 1]

    @property
    def top(self) -> Point:
        """The highest place of every parameter; together they may be beyond the limit of flows."""
        return tuple(len(row) - 1 for row in self.rows)

    def name(self, axis: int) -> str:
        """The name of a parameter."""
        return self._space.parameters[axis].name

    def setting(self, point: Point) -> Setting:
        """The setting at a point, including what the space holds fixed, within the flows."""
        return self._values(self._projected(point))

    def _values(self, point: Point) -> Setting:
        values = {
            p.name: row[place]
            for p, row, place in zip(self._space.parameters, self.rows, point, strict=True)
        }
        return values | self._space.fixed

    def number(self, number: int) -> Point:
        """The point of that number, 0 to `size` - 1; the last parameter varies fastest."""
        if self._within:
            return self._within[number]
        places = []
        for row in reversed(self.rows):
            number, place = divmod(number, len(row))
            places.append(place)
        return tuple(reversed(places))

    def bounded(self, places: Sequence[float]) -> Point:
        """The fBnd of Balaprakash et al.: halves are rounded up, values outside are projected.

        What has too many flows is projected as in `Space.bounded`.
        """
        return self._projected(
            tuple(
                min(last, max(0, math.floor(place + 0.5)))
                for place, last in zip(places, self.top, strict=True)
            )
        )

    def _projected(self, point: Point) -> Point:
        values = self._values(point)
        within = self._space.bounded(values)
        if within is values:
            return point
        return tuple(
            place
            if within[p.name] == row[place]
            else max(0, bisect.bisect_right(row[:place], within[p.name]) - 1)
            for p, row, place in zip(self._space.parameters, self.rows, point, strict=True)
        )

    def moved(self, point: Point, axis: int, by: float) -> Point:
        """The point `by` steps along one parameter, bounded."""
        return self.bounded([p + by if a == axis else p for a, p in enumerate(point)])

    def nearest(self, setting: Setting) -> Point:
        """The point whose values are nearest to the setting's, each on its parameter's scale."""
        return self._projected(
            tuple(
                min(
                    range(len(row)),
                    key=lambda place: abs(
                        p.fraction_of(row[place]) - p.fraction_of(float(setting[p.name]))
                    ),
                )
                for p, row in zip(self._space.parameters, self.rows, strict=True)
            )
        )
