"""Moving average of the RTT over a session (ProbData 2017, section IV.D.3)."""

from typing import Final

BETA: Final = 0.125
"""The weight of the newest RTT in ProbData."""


_OTHER: Final = 1.25
"""The factor between two round-trip times from which the range of buffers follows. The range spans
a factor of 64 or more, so that less hardly moves it; and each move costs the search some of what
it has learnt."""


def is_other_rtt(rtt_s: float, than_s: float) -> bool:
    """Whether two round-trip times, both above zero, differ by more than 25 %."""
    return max(rtt_s, than_s) > _OTHER * min(rtt_s, than_s)


def smoothed(srtt_s: float, rtt_s: float, beta: float = BETA) -> float:
    """SRTT = (1 − β)·SRTT + β·RTT, in seconds.

    Raises ValueError when an RTT is not above zero or `beta` is outside [0, 1].
    """
    if srtt_s <= 0 or rtt_s <= 0:
        raise ValueError(f"an RTT must be above zero, not {min(srtt_s, rtt_s):g} s")
    if not 0 <= beta <= 1:
        raise ValueError(f"beta is {beta:g}: give 0 to 1")
    return (1 - beta) * srtt_s + beta * rtt_s
