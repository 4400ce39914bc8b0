"""Narration of a tuned transfer: its settings as lines, its progress as a bar."""

from advisor.domain import events as ev
from advisor.report.plan_narration import PlanNarration
from advisor.report.transfer import (
    beside_the_bar,
    changed_line,
    load_line,
    progress_line,
    started_line,
)


class TransferNarration(PlanNarration):
    """A listener. On a terminal a bar below the lines; elsewhere a line at intervals."""

    def __call__(self, event: ev.AnyEvent) -> None:
        """Process one event."""
        match event:
            case ev.TransferStarted():
                self._say(started_line(event))
            case ev.LoadChanged():
                self._say(load_line(event))
            case ev.SettingChanged():
                self._say(changed_line(event))
            case _:
                super().__call__(event)

    def _line(self, event: ev.FilesMoving) -> str:
        return progress_line(event)

    def _move(self, event: ev.FilesMoving) -> None:
        if self._progress is None:
            self._begin()
        [one] = event.classes
        self._bar(one.size, one.moved_bytes, one.total_bytes, beside_the_bar(event))
