"""What a tuned transfer tells while it runs: its settings as lines, its progress as a bar."""

from typing import Final

from advisor.cli.plan_narration import PlanNarration
from advisor.domain import events as ev
from advisor.report.transfer import beside_the_bar, changed_line, progress_line

_LINE_EVERY_S: Final = 10.0


class TransferNarration(PlanNarration):
    """A listener. On a terminal a bar below the lines; elsewhere a line now and then."""

    def __call__(self, event: ev.AnyEvent) -> None:
        """Hear one event."""
        match event:
            case ev.SettingChanged():
                self._say(changed_line(event))
            case ev.FilesMoving() if not self._with_bars:
                if event.at_s >= self._last_line_s + _LINE_EVERY_S:
                    self._last_line_s = event.at_s
                    self._say(progress_line(event))
            case _:
                super().__call__(event)

    def _move(self, event: ev.FilesMoving) -> None:
        if self._progress is None:
            self._begin()
        [one] = event.classes
        self._bar(one.size, one.moved_bytes, one.total_bytes, beside_the_bar(one, event.left_s))
