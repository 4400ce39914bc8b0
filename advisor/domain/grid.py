"""Grids: the settings that a profile measures, and how often."""

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Final

import msgspec

from advisor.domain.bounded import Whole
from advisor.domain.printable import ShownText
from advisor.domain.space import Setting, SettingKey, SettingValue, flows_of

MOST_CELLS: Final = 100_000
"""More settings than anybody measures; a file that declares more is refused."""

Cell = tuple[str, SettingKey]
"""One subject, a transport or tool, at one setting."""


class Axis(msgspec.Struct, frozen=True):
    """The values of one parameter, in the order they are shown."""

    name: ShownText
    values: Annotated[tuple[SettingValue, ...], msgspec.Meta(min_length=1, max_length=1024)]


class Grid(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All combinations of the axes' values for one subject, a transport or tool.

    `fixed`: what every setting also contains. `most_flows`: combinations that open more connections
    are left out. Raises ValueError for more than MOST_CELLS combinations.
    """

    subject: ShownText
    axes: Annotated[tuple[Axis, ...], msgspec.Meta(max_length=8)]
    fixed: Setting = {}
    most_flows: Whole | None = None

    def __post_init__(self) -> None:
        if math.prod(len(axis.values) for axis in self.axes) > MOST_CELLS:
            raise ValueError(f"a grid has at most {MOST_CELLS} settings: give fewer values")

    @property
    def settings(self) -> list[Setting]:
        """The settings; the last axis varies fastest."""
        return [one for one in self._combined() if self._is_allowed(one)]

    def _combined(self) -> Iterator[Setting]:
        names = [axis.name for axis in self.axes]
        for values in itertools.product(*(axis.values for axis in self.axes)):
            yield dict(zip(names, values, strict=True)) | self.fixed

    def _is_allowed(self, setting: Setting) -> bool:
        return self.most_flows is None or flows_of(setting) <= self.most_flows
