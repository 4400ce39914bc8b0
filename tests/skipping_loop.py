"""An event loop whose clock goes on to the next moment for which something is planned."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")
_Ready = list[tuple[selectors.SelectorKey, int]]


class _Skipping(selectors.DefaultSelector):
    """Counts the time that it would have waited."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> _Ready:
        if timeout is None:
            return super().select(None)
        # Threads are waited for by what they write to the loop: their time does not count.
        self.now_s += max(0.0, timeout)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now_s


def run_skipping(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of the work, without waiting for any of its timers."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
