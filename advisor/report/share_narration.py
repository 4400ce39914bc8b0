"""Narration of sessions with several destinations."""

from typing import TextIO

import msgspec

from advisor.domain import events as ev
from advisor.domain.quantities import format_duration
from advisor.report.plan_narration import PlanNarration
from advisor.report.share_names import shown
from advisor.report.share_run import (
    changed_line,
    destination_ended_line,
    seen_line,
    started_line,
)


class ShareNarration(PlanNarration):
    """A listener. On a terminal a bar for each destination, or for an experiment's steps."""

    def __init__(self, stream: TextIO, *, bars: bool) -> None:
        super().__init__(stream, bars=bars)
        self._started: ev.SharesStarted | None = None

    def __call__(self, event: ev.AnyEvent) -> None:
        """Process one event."""
        match event:
            case ev.SharesStarted():
                self._started = event
                self._say(started_line(event))
                self._move_steps(0)
            case ev.SharesSeen():
                self._say(seen_line(event, self._started.epochs if self._started else None))
                self._move_steps(event.epoch)
            case ev.SharesChanged():
                self._say(changed_line(event))
            case ev.DestinationEnded():
                served = self._started.concurrency if self._started else ()
                self._say(destination_ended_line(event, served))
            case ev.SharesPlanned() | ev.SharesEnded():
                self.finish()
            case ev.FilesMoving():
                super().__call__(_with_short_names(event))
            case _:
                super().__call__(event)

    def _move_steps(self, done: int) -> None:
        one = self._started
        if one is None or one.epochs is None or not self._with_bars:
            return
        if self._progress is None:
            self._begin()
        left_s = (one.epochs - done) * one.epoch_s
        self._bar("steps", done, one.epochs, f"{format_duration(left_s)} left" if left_s else "")


def _with_short_names(event: ev.FilesMoving) -> ev.FilesMoving:
    names = shown(one.size for one in event.classes)
    classes = [msgspec.structs.replace(one, size=names[one.size]) for one in event.classes]
    return msgspec.structs.replace(event, classes=classes)
