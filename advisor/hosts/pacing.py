"""Doing something at even intervals."""

import time
from collections.abc import Callable


def repeat_every(seconds: float, action: Callable[[], None]) -> None:
    """Call `action` now and every so many seconds after, until it raises.

    What `action` takes does not add to the interval; where it takes longer, no call is made up for.
    """
    due_s = time.monotonic()
    while True:
        action()
        due_s = max(due_s + seconds, time.monotonic())
        time.sleep(max(0.0, due_s - time.monotonic()))
