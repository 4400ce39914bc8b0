"""`advisor history replay`: replays a past session or tuned transfer."""

import sys
import time
from collections.abc import Iterable, Iterator

from advisor.cli.terminal import stdout_columns
from advisor.cli.transfer.moving import say_end
from advisor.domain import events as ev
from advisor.report.narration import Narration
from advisor.report.output import say
from advisor.report.text import advice_text
from advisor.report.transfer_narration import TransferNarration

_LONGEST_PAUSE_S = 5.0


def paced(events: Iterable[ev.AnyEvent], speed: float | None) -> Iterator[ev.AnyEvent]:
    """Yield the events at their times, `speed` times as fast; without a speed all at once.

    The clock of a resumed session restarts at 0: such a step back causes no wait. No pause is
    longer than a few seconds.
    """
    before_s = 0.0
    for event in events:
        if speed:
            pause_s = (event.at_s - before_s) / speed
            time.sleep(min(_LONGEST_PAUSE_S, max(0.0, pause_s)))
        before_s = event.at_s
        yield event


def replay_session(events: list[ev.AnyEvent], speed: float | None) -> None:
    """Narrate on standard error and print the result, as the session did."""
    if any(isinstance(event, ev.TransferStarted) for event in events):
        _replay_transfer(events, speed)
    else:
        _replay_advising(events, speed)


def _replay_transfer(events: list[ev.AnyEvent], speed: float | None) -> None:
    """Without a speed, progress events are left out."""
    if not speed:
        events = [event for event in events if not isinstance(event, ev.FilesMoving)]
    with TransferNarration(sys.stderr, bars=sys.stderr.isatty()) as narration:
        for event in paced(events, speed):
            narration(event)
            say_end(event)


def _replay_advising(events: list[ev.AnyEvent], speed: float | None) -> None:
    with Narration(sys.stderr) as narration:
        for event in paced(events, speed):
            narration(event)
            if isinstance(event, ev.AdviceGiven):
                narration.finish()
                say(advice_text(event, stdout_columns()))
