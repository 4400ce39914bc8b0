"""Narration on standard error: lines, and on a terminal a bar with time left and best rate."""

import asyncio
import sys
from typing import Any, Final, TextIO

from advisor.domain import events as ev
from advisor.domain.printable import printable
from advisor.domain.quantities import format_duration, format_rate
from advisor.report.bars import LinesAndBars
from advisor.report.lines import line_of
from advisor.traits import subject_name

_ANSWERS: Final = {"y": True, "yes": True, "n": False, "no": False, "": False}


class Narration(LinesAndBars):
    """A listener. On a terminal it draws a bar below the lines; elsewhere it only writes lines."""

    def __init__(self, stream: TextIO, bar: bool | None = None) -> None:
        super().__init__(stream)
        self._task: Any = None
        self._with_bar = stream.isatty() if bar is None else bar

    def __call__(self, event: ev.AnyEvent) -> None:
        """Process one event."""
        if isinstance(event, ev.StageStarted) and self._with_bar and self._progress is None:
            self._begin(event)
        if line := line_of(event):
            self._say(line)
        self._move(event)

    def _begin(self, event: ev.StageStarted) -> None:
        from rich.progress import BarColumn, TextColumn

        self._start_bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=12),
            TextColumn("{task.fields[left]}", markup=False),
            TextColumn("{task.fields[best]}", markup=False),
        )
        self._task = self._progress.add_task(printable(event.stage), total=1.0, left="", best="")

    def _move(self, event: ev.AnyEvent) -> None:
        if self._progress is None:
            return
        update: dict[str, Any] = {}
        match event:
            case ev.StageStarted():
                update["description"] = printable(event.stage)
            case ev.ProbeEnded() | ev.MeasuredAtOnce():
                total_s = event.at_s + event.remaining_s
                update["completed"] = event.at_s / total_s if total_s else 1.0
                update["left"] = f"{format_duration(round(event.remaining_s))} left"
            case ev.IntervalSeen():
                update["description"] = f"{format_rate(event.throughput_bps):>11} now"
            case ev.BestChanged():
                rate = format_rate(event.throughput_bps)
                update["best"] = printable(f"best {rate} {subject_name(event.subject)}")
        if update:
            self._progress.update(self._task, **update)

    def finish(self) -> None:
        """Remove the bar permanently."""
        if self._progress is not None:
            self._with_bar = False
        super().finish()

    async def ask(self, past: list[ev.PastResult]) -> bool:
        """Whether the user accepts the stored result: yes or no. Enter alone, as the end of the
        input, means no; anything else is asked again."""
        while True:
            self._stream.write("Use the stored result and measure nothing? [y/N] ")
            self._stream.flush()
            answer = (await _line_of_input()).strip().lower()
            if answer in _ANSWERS:
                return _ANSWERS[answer]


async def _line_of_input() -> str:
    """The next line of standard input; "" at its end.

    Not in a thread: a thread that waits for a line cannot be interrupted by Ctrl-C.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        loop.remove_reader(sys.stdin)
        if not answered.done():
            answered.set_result(sys.stdin.readline())

    loop.add_reader(sys.stdin, read)
    try:
        return await answered
    finally:
        loop.remove_reader(sys.stdin)
