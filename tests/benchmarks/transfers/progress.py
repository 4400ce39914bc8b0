"""Shows the present task and the remaining time."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from advisor.domain.quantities import format_duration


class TimeLeft:
    """A bar by estimated times, and a line for each finished task."""

    def __init__(self, total_s: float) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[left]} left"),
            console=Console(stderr=True),
        )
        left = format_duration(total_s)
        self._task = self._bar.add_task("", total=max(total_s, 1e-3), left=left)
        self._left_s = total_s

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begins(self, what: str) -> None:
        self._bar.update(self._task, description=what)

    def ended(self, words: str, estimated_s: float) -> None:
        """A task with this estimated duration has finished."""
        self._left_s = max(0.0, self._left_s - estimated_s)
        left = format_duration(self._left_s)
        self._bar.update(self._task, advance=estimated_s, left=left)
        self._bar.console.print(
            f"{time.strftime('%H:%M:%S')} {words}; about {left} left", highlight=False
        )
