"""Runs work side by side, as far as this machine carries it."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final

ABREAST: Final = 4
"""Paths at a time at most."""


class Capacity:
    """What is free of the machine. One waits at a time, so small work does not overtake large."""

    def __init__(self) -> None:
        self._taken: list[float] = []
        self._changed = threading.Condition()
        self._turn = threading.Lock()

    @contextlib.contextmanager
    def taken(self, weight: float) -> Iterator[None]:
        """A part of the machine until the end of the block; 1 and more is all of it."""
        weight = min(weight, 1.0)
        with self._turn, self._changed:
            # Summed each time: a running total is off by rounding, so all would never be free.
            self._changed.wait_for(lambda: math.fsum([*self._taken, weight]) <= 1)
            self._taken.append(weight)
        try:
            yield
        finally:
            with self._changed:
                self._taken.remove(weight)
                self._changed.notify_all()


def run_abreast(works: Sequence[Callable[[], None]], at_most: int) -> None:
    """Begin them in this order, `at_most` at a time.

    An exception of one is raised here once it happens: no further one begins then, and those that
    run are left to the program's end. The same holds for a signal.
    """
    waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
    ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def worker() -> None:
        while work := waiting.get():
            try:
                work()
            except BaseException as error:  # noqa: BLE001 the main thread raises it
                ended.put(error)
                return
            ended.put(None)

    for work in (*works, *[None] * at_most):
        waiting.put(work)
    for _ in range(at_most):
        threading.Thread(target=worker, daemon=True).start()
    try:
        for _ in works:
            if error := ended.get():
                raise error
    finally:
        with contextlib.suppress(queue.Empty):
            while True:
                waiting.get_nowait()
