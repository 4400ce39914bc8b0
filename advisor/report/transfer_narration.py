"""Narration of a tuned transfer: its settings as lines, its progress as a bar."""

from typing import TextIO

from advisor.domain import events as ev
from advisor.report.plan_narration import LINE_EVERY_S, PlanNarration
from advisor.report.transfer import (
    beside_the_bar,
    changed_line,
    load_line,
    node_words,
    nodes_line,
    progress_line,
    started_line,
)


class TransferNarration(PlanNarration):
    """A listener. On a terminal a bar below the lines, and one for each of several nodes; elsewhere
    a line at intervals."""

    def __init__(self, stream: TextIO, *, bars: bool) -> None:
        super().__init__(stream, bars=bars)
        self._total_bytes = 0
        self._last_nodes_s = 0.0

    def __call__(self, event: ev.AnyEvent) -> None:
        """Process one event."""
        match event:
            case ev.TransferStarted():
                self._say(started_line(event))
            case ev.LoadChanged():
                self._say(load_line(event))
            case ev.SettingChanged():
                self._say(changed_line(event))
            case ev.NodesMoving():
                self._tell_nodes(event)
            case _:
                super().__call__(event)

    def _line(self, event: ev.FilesMoving) -> str:
        return progress_line(event)

    def _tell_nodes(self, event: ev.NodesMoving) -> None:
        if self._progress is not None:
            for one in event.nodes:
                self._bar(f"node {one.number}", one.moved_bytes, self._total_bytes, node_words(one))
        elif event.at_s >= self._last_nodes_s + LINE_EVERY_S:
            self._last_nodes_s = event.at_s
            self._say(nodes_line(event))

    def _move(self, event: ev.FilesMoving) -> None:
        if self._progress is None:
            self._begin()
        [one] = event.classes
        self._total_bytes = one.total_bytes
        self._bar(one.size, one.moved_bytes, one.total_bytes, beside_the_bar(event))
