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
    """A listener. On a terminal a bar for each destination, or for an experiment."""

    def __init__(self, stream: TextIO, *, bars: bool) -> None:
        super().__init__(stream, bars=bars)
        self._started: ev.SharesStarted | None = None

    def __call__(self, event: ev.AnyEvent) -> None:
        """Process one event."""
        match event:
            case ev.SharesStarted():
                self._started = event
                self._say(started_line(event))
                self._move_steps(event.at_s)
            case ev.SharesSeen():
                self._say(seen_line(event, self._started.purpose if self._started else "run"))
                self._move_steps(event.at_s)
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

    def _move_steps(self, at_s: float) -> None:
        one = self._started
        if one is None or one.lasts_s is None or not self._with_bars:
            return
        if self._progress is None:
            self._begin()
        done_s = min(at_s - one.at_s, one.lasts_s)
        left = f"{format_duration(one.lasts_s - done_s)} left" if done_s < one.lasts_s else ""
        self._bar("experiment", round(done_s), round(one.lasts_s), left)


def _with_short_names(event: ev.FilesMoving) -> ev.FilesMoving:
    names = shown(one.size for one in event.classes)
    classes = [msgspec.structs.replace(one, size=names[one.size]) for one in event.classes]
    return msgspec.structs.replace(event, classes=classes)
