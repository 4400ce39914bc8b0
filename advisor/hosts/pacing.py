"""Call a function at regular intervals."""

import time
from collections.abc import Callable


def repeat_every(seconds: float, action: Callable[[], None]) -> None:
    """Call `action` now and every `seconds` thereafter, until it raises.

    The time that `action` takes does not lengthen the interval. If it exceeds the interval, the
    missed calls are skipped.
    """
    due_s = time.monotonic()
    while True:
        action()
        due_s = max(due_s + seconds, time.monotonic())
        time.sleep(max(0.0, due_s - time.monotonic()))
