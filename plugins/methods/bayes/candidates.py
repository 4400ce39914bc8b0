"""The settings that bayes chooses among."""

import math
from itertools import product
from typing import Final

import numpy as np

from advisor.api.values import AUTOMATIC, Parameter, Setting, Space, setting_key

_MOST_CANDIDATES: Final = 500


def is_count(parameter: Parameter) -> bool:
    """Whether it counts files, streams or commands; all others are sizes in bytes."""
    return parameter.unit != "B"


def _levels(parameter: Parameter, fine: bool) -> list[int]:
    """Values an octave (half an octave where fine) apart, both bounds among them.

    The automatic value, where there is one, is one more.
    """
    return [*_sized_levels(parameter, fine), *([AUTOMATIC] if parameter.automatic else [])]


def _sized_levels(parameter: Parameter, fine: bool) -> list[int]:
    octaves = math.log2(parameter.upper / parameter.lower)
    if octaves == 0:
        return [parameter.lower]
    count = is_count(parameter)
    per_octave = 2 if fine and count else 1
    steps = range(math.floor(octaves * per_octave) + 1)
    anchor, sign = (parameter.lower, 1) if count else (parameter.upper, -1)
    raw = [anchor * 2.0 ** (sign * step / per_octave) for step in steps][:12]
    values = {parameter.nearest(v) for v in raw}
    return sorted(values | {parameter.lower, parameter.upper})


def candidates(space: Space) -> list[Setting]:
    """A grid of octaves, bounds included; a sample of 500 settings from a larger grid.

    Settings with too many flows are replaced by their projections onto the limit.
    """
    levels = [_levels(p, fine=space.dimensions <= 2) for p in space.parameters]
    names = [p.name for p in space.parameters]
    total = math.prod(len(one) for one in levels)
    if total <= _MOST_CANDIDATES:
        points = list(product(*levels))
    else:
        # The same sample every time, so that a resumed search has the same candidates.
        spread = np.random.default_rng(0).choice(total, _MOST_CANDIDATES - 1, replace=False)
        picks = np.union1d(spread, [total - 1])
        shape = tuple(len(one) for one in levels)
        indices = np.stack(np.unravel_index(picks, shape), axis=1).tolist()
        points = [tuple(one[i] for one, i in zip(levels, row, strict=True)) for row in indices]
    settings = [space.bounded(dict(zip(names, p, strict=True)) | space.fixed) for p in points]
    return list({setting_key(one): one for one in settings}.values())
