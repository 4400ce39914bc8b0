"""A sparkline: one block per value, on a scale from zero. Pure."""

from collections.abc import Sequence
from typing import Final

_BLOCKS: Final = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[float], width: int) -> str:
    """The newest `width` values, all at least zero; the highest fills the line."""
    shown = values[-width:]
    top = max(shown, default=0.0)
    if top <= 0:
        return _BLOCKS[0] * len(shown)
    highest = len(_BLOCKS) - 1
    return "".join(_BLOCKS[min(highest, int(value / top * len(_BLOCKS)))] for value in shown)
