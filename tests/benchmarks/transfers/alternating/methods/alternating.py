"""A method that alternates forever between two settings with the same number of flows.

It learns nothing: its loss relative to transfers with either fixed setting is the cost of changes.
The benchmark loads it through ADVISOR_PLUGINS.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import Knowledge, Memory, Search, SearchPlugin
from advisor.api.values import Setting, Space

_SETTINGS: Final[tuple[Setting, ...]] = (
    {"concurrency": 8, "parallelism": 2},
    {"concurrency": 4, "parallelism": 4},
)


class Alternating(Search[Memory]):
    """After each probe the other one."""

    def _setting(self) -> Setting:
        return _SETTINGS[self.memory.iteration % len(_SETTINGS)]

    def _take(self, _bps: float) -> None:
        self.memory.iteration += 1


def _make(
    space: Space, rng: np.random.Generator, _knowledge: Knowledge, _constants: Mapping[str, float]
) -> Alternating:
    return Alternating(space, rng, Memory())


plugin = SearchPlugin(name="alternating", summary="8 × 2 and 4 × 4 in turn", make=_make)
