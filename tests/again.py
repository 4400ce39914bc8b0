"""For figures that another program on this machine may have spoilt."""

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def measured_until(holds: Callable[[_T], bool], measure: Callable[[], _T], times: int = 4) -> _T:
    """Measure again where it does not hold, so often at most; all that was measured is shown."""
    seen: list[_T] = []
    for _ in range(times):
        seen.append(measure())
        if holds(seen[-1]):
            return seen[-1]
    raise AssertionError(f"measured {times} times, it never held: {seen}")
