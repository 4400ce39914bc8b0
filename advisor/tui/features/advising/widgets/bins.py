"""A parameter space divided into cells that fit a screen. Pure."""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from advisor.domain.quantities import format_bytes
from advisor.domain.space import AUTOMATIC, Parameter, Scale, Setting, Space, setting_words
from advisor.tui.features.advising.session_model import ProbeModel

GridCell = tuple[int, int]


_SAID: Final = {"concurrency": "files at a time", "parallelism": "streams each"}
_SAID_SHORTER: Final = {"concurrency": "files", "parallelism": "streams"}


AUTO: Final = "auto"


class Axis(msgspec.Struct, frozen=True):
    """One parameter, divided into `count` parts of equal length on its own scale.

    `about_values`: the parts are centred on values, including the bounds, instead of between them.
    """

    parameter: Parameter
    count: int
    about_values: bool = False

    @classmethod
    def fitting(cls, parameter: Parameter, most: int) -> "Axis":
        """As many parts as fit, but no more than there are values."""
        sizes = (parameter.upper - parameter.lower) // parameter.quantum + 1
        return cls(parameter, max(1, min(sizes + bool(parameter.automatic), most)))

    def index_of(self, value: float) -> int:
        """The index of the part that contains a value, from the lowest."""
        fraction = self.parameter.fraction_of(value)
        if self.about_values:
            return round(fraction * (self.count - 1))
        return min(self.count - 1, int(fraction * self.count))

    def value_at(self, index: int) -> int:
        """The lower end of a part, or the value it is centred on."""
        if self.about_values:
            return self.parameter.value_at(index / max(1, self.count - 1))
        return self.parameter.value_at(index / self.count)

    @property
    def top(self) -> int:
        """The highest value."""
        return self.parameter.value_at(1.0)


def value_words(parameter: Parameter, value: float) -> str:
    """A value as text; `auto` is the kernel's own. Of a choice, its words."""
    if parameter.is_choice:
        return setting_words({parameter.name: int(value)})
    if parameter.automatic and value == AUTOMATIC:
        return AUTO
    return format_bytes(value) if parameter.unit == "B" else f"{value:g}"


def name_of(parameter: Parameter) -> str:
    """The parameter's name on screens: `buffer_bytes` is a buffer."""
    if known := _SAID.get(parameter.name):
        return known
    return parameter.name.removesuffix("_bytes").replace("_", " ")


def short_name_of(parameter: Parameter) -> str:
    """The parameter's name in titles."""
    return _SAID_SHORTER.get(parameter.name, name_of(parameter))


class Grid(msgspec.Struct, frozen=True):
    """Cells over a space's first two parameters; `up` is None in a space of one."""

    across: Axis
    up: Axis | None

    @classmethod
    def fitting(cls, space: Space, columns: int, rows: int) -> "Grid":
        """A grid of at most this many cells."""
        first, *others = space.parameters
        up = Axis.fitting(others[0], max(1, rows)) if others else None
        return cls(Axis.fitting(first, max(1, columns)), up)

    @classmethod
    def of_doublings(cls, space: Space, columns: int, rows: int) -> "Grid":
        """At most this many cells, the same number for each doubling, or less than one."""
        across, *others = space.parameters
        up = _doubled(others[0], rows) if others else None
        return cls(_doubled(across, columns), up)

    def cell_of(self, setting: Setting) -> GridCell | None:
        """(column, row from below); None for a setting outside the space."""
        indices = []
        for axis in (self.across, self.up):
            if axis is None:
                indices.append(0)
                continue
            value = setting.get(axis.parameter.name)
            if not isinstance(value, int | float):
                return None
            if not axis.parameter.contains(value):
                return None
            indices.append(axis.index_of(value))
        return indices[0], indices[1]


def _doubled(parameter: Parameter, most: int) -> Axis:
    doublings = round(math.log2(parameter.upper / parameter.lower)) + bool(parameter.automatic)
    # No cell may lie between two successive values.
    finest = int(1 / math.log2(1 + parameter.quantum / parameter.lower))
    each = max(1, min(finest, (most - 1) // max(1, doublings)))
    count = min(1 + doublings * each, max(1, most))
    return Axis(parameter, count, about_values=True)


def zoomed(space: Space, probes: Iterable[ProbeModel]) -> Space | None:
    """The part of a space that was probed, on a logarithmic scale, by whole doublings.

    None if no setting lies in it.
    """
    settings = [probe.setting for probe in probes if space_contains(space, probe.setting)]
    if not settings:
        return None
    parameters = []
    for parameter in space.parameters:
        all_values = [float(setting[parameter.name]) for setting in settings]
        values = [value for value in all_values if value != AUTOMATIC] or [parameter.upper]
        lower, upper = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
        parameters.append(
            Parameter(
                name=parameter.name,
                unit=parameter.unit,
                lower=2**lower,
                upper=2 ** max(upper, lower + 1),
                scale=Scale.LOG2,
                automatic=parameter.automatic,
            )
        )
    return Space(parameters=tuple(parameters), cost_order=())


def space_contains(space: Space, setting: Setting) -> bool:
    """Whether the setting has a value within the bounds for each parameter of the space."""
    return Grid.fitting(space, 1, 1).cell_of(setting) is not None


def spanned(probes: Iterable[ProbeModel]) -> Space | None:
    """The box around the probed settings, by doublings; None for fewer than two distinct values.

    For stages without a search space: those of a disk, with given threads and request sizes.
    """
    settings = [probe.setting for probe in probes]
    names = dict.fromkeys(name for setting in settings for name in setting)
    parameters = []
    for name in names:
        values = [setting.get(name) for setting in settings]
        sizes = [value for value in values if isinstance(value, int) and value >= 1]
        if len(sizes) == len(values) and min(sizes) < max(sizes):
            unit = "B" if name.endswith("_bytes") else ""
            parameters.append(
                Parameter(
                    name=name, unit=unit, lower=min(sizes), upper=max(sizes), scale=Scale.LOG2
                )
            )
    return Space(parameters=tuple(parameters), cost_order=()) if parameters else None


_MOVES_TRACED: Final = 4


def trail(grid: Grid, probes: Sequence[ProbeModel]) -> list[GridCell]:
    """The cells of the search's last moves, in order.

    A search that marks its centres (y*) is traced by these, any other by all its probes.
    """
    searched = [p for p in probes if p.purpose == "search" and p.label != "by hand"]
    moves = [p for p in searched if p.label == "y*"] or searched
    stops = [cell for p in moves[-_MOVES_TRACED - 1 :] if (cell := grid.cell_of(p.setting))]
    way: list[GridCell] = stops[:1]
    for start, end in itertools.pairwise(stops):
        way += _between(start, end)
    return way


def _between(start: GridCell, end: GridCell) -> Iterable[GridCell]:
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    for i in range(1, steps + 1):
        share = i / steps
        yield (
            round(start[0] + (end[0] - start[0]) * share),
            round(start[1] + (end[1] - start[1]) * share),
        )
