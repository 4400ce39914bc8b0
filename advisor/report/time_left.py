"""The time left of a transfer as text, from the first second on."""

from typing import Final

from advisor.domain.events import FilesMoving
from advisor.domain.quantities import format_duration
from advisor.report.plan import left_words

_STEPS_S: Final = ((120.0, 1), (1200.0, 10), (14400.0, 60))
"""Below this many seconds, an estimate is rounded to this many."""

_LONGEST_STEP_S: Final = 600


def about_left_s(event: FilesMoving) -> float | None:
    """Seconds left: as estimated, else the bytes left at the present rate; None if nothing moves.

    Nothing is estimated for a sample, after which everything else is still to be moved.
    """
    if event.left_s is not None:
        return event.left_s[0]
    rate_bps = sum(one.rate_bps for one in event.classes)
    if event.phase == "sample" or rate_bps <= 0:
        return None
    return sum(one.total_bytes - one.moved_bytes for one in event.classes) * 8 / rate_bps


def time_left_text(event: FilesMoving) -> str:
    """`about 4 min left` at first, later with its interval; "" if nothing moves."""
    if event.left_s is not None:
        return left_words(event.left_s)
    left_s = about_left_s(event)
    return "" if left_s is None else f"about {format_duration(_rounded_s(left_s))} left"


def _rounded_s(left_s: float) -> int:
    step_s = next((step_s for most_s, step_s in _STEPS_S if left_s < most_s), _LONGEST_STEP_S)
    return max(1, round(left_s / step_s) * step_s)
