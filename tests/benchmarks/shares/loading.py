"""External load that varies all the time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor


@contextlib.contextmanager
def varying(
    put: Callable[[int], None], loads: Iterable[int], every_s: float
) -> Iterator[Callable[[], None]]:
    """One of the loads after the other, each for this long, from `with` to its end.

    What `put` raised is raised there, and by what this gives, which looks whether all is well.
    """
    over = threading.Event()

    def vary() -> None:
        for load in loads:
            put(load)
            if over.wait(every_s):
                return

    with ThreadPoolExecutor(1) as pool:
        varied = pool.submit(vary)

        def check() -> None:
            if varied.done():
                varied.result()

        try:
            yield check
        finally:
            over.set()
        varied.result()
