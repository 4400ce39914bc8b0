"""What a recorded table has of each of its cells."""

from typing import NamedTuple, TypeAlias

Cell: TypeAlias = tuple[int, ...]
"""One value per parameter of the space, in the space's order."""


class Repeat(NamedTuple):
    """One recorded transfer: bit/s at the receiver (0: it failed) and its duration in seconds."""

    throughput_bps: float
    elapsed_s: float
