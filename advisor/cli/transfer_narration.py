"""What a tuned transfer tells: its settings as lines, its progress as a bar, and its end."""

import click

from advisor.cli.plan_narration import PlanNarration
from advisor.domain import events as ev
from advisor.report.transfer import (
    beside_the_bar,
    changed_line,
    ended_lines,
    load_line,
    progress_line,
    started_line,
)


class TransferNarration(PlanNarration):
    """A listener. On a terminal a bar below the lines; elsewhere a line now and then."""

    def __call__(self, event: ev.AnyEvent) -> None:
        """Hear one event."""
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


def say_end(event: ev.AnyEvent) -> None:
    """Print what became of it, once that is told; on standard error why nothing did."""
    match event:
        case ev.TransferEnded():
            click.echo("\n".join(ended_lines(event)))
        case ev.GaveUp():
            click.echo(f"advisor: {event.message}", err=True)
