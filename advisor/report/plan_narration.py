"""Narration of a planned transfer: lines, and on a terminal a bar for each class."""

from typing import Any, Final, TextIO

from advisor.domain import events as ev
from advisor.domain.printable import printable
from advisor.domain.quantities import format_rate
from advisor.report.bars import LinesAndBars
from advisor.report.lines import line_of
from advisor.report.plan import changed_words, left_words, progress_words

LINE_EVERY_S: Final = 10.0
"""Between two lines on the progress, where there are no bars."""


class PlanNarration(LinesAndBars):
    """A listener. On a terminal bars below the lines; elsewhere a line at intervals."""

    def __init__(self, stream: TextIO, *, bars: bool) -> None:
        super().__init__(stream)
        self._with_bars = bars
        self._tasks: dict[str, Any] = {}
        self._last_line_s = 0.0

    def __call__(self, event: ev.AnyEvent) -> None:
        """Process one event."""
        match event:
            case ev.FilesMoving():
                if self._with_bars:
                    self._move(event)
                elif event.at_s >= self._last_line_s + LINE_EVERY_S:
                    self._last_line_s = event.at_s
                    self._say(self._line(event))
            case ev.PlanChanged():
                self._say(f"  {changed_words(event)}")
            case ev.PlanMade() | ev.TransferEnded() | ev.GaveUp():
                self.finish()
            case _:
                if line := line_of(event):
                    self._say(line)

    def _line(self, event: ev.FilesMoving) -> str:
        """The progress line where there are no bars."""
        return f"  {_phase(event)}: {progress_words(event.classes)}"

    def _begin(self) -> None:
        from rich.progress import BarColumn, TextColumn

        self._start_bars(
            TextColumn("{task.description:<8}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[said]}", markup=False),
        )

    def _move(self, event: ev.FilesMoving) -> None:
        if self._progress is None:
            self._begin()
        for one in event.classes:
            clients = f"{one.clients} × {one.parallelism}" if one.clients else "waits"
            is_over = one.files == one.total_files
            self._bar(
                one.size,
                one.moved_bytes,
                one.total_bytes,
                "there" if is_over else f"{format_rate(one.rate_bps):>13}  {clients}",
            )
        total = sum(one.total_bytes for one in event.classes)
        moved = sum(one.moved_bytes for one in event.classes)
        rate = format_rate(sum(one.rate_bps for one in event.classes))
        left = left_words(event.left_s) or _phase(event)
        self._bar("all", moved, total, f"{rate:>13}  {left}")

    def _bar(self, name: str, completed: int, total: int, said: str) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(printable(name), said="")
        self._progress.update(
            self._tasks[name], completed=completed, total=max(1, total), said=said
        )

    def finish(self) -> None:
        """Remove the bars; they may return."""
        super().finish()
        self._tasks.clear()


def _phase(event: ev.FilesMoving) -> str:
    return "samples" if event.phase == "sample" else "moving"
