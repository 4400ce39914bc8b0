"""A sparkline: one block per value, on a scale from zero. Pure."""

from collections.abc import Sequence
from typing import Final

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_ASCII: Final = "_.-=+*#@"


def spark(values: Sequence[float], width: int, drawing: str = "braille") -> str:
    """The newest `width` values, all at least zero; the highest fills the line."""
    marks = _ASCII if drawing == "ascii" else _BLOCKS
    shown = values[-width:]
    top = max(shown, default=0.0)
    if top <= 0:
        return marks[0] * len(shown)
    return "".join(marks[min(len(marks) - 1, int(value / top * len(marks)))] for value in shown)
