"""Sends the events of one session to its listener and, once there is one, to its log."""

from collections.abc import Callable
from typing import Any, TypeAlias

from advisor.domain import events as ev
from advisor.store.backend import SessionLog

Publish: TypeAlias = Callable[[ev.AnyEvent], None]
"""A listener of events."""


class EventEmitter:
    """Stamps events with the time since the session began. `clock`: monotonic, in seconds."""

    def __init__(self, publish: Publish, clock: Callable[[], float]) -> None:
        self._publish = publish
        self._clock = clock
        self._began_s = clock()
        self._log: SessionLog | None = None

    @property
    def at_s(self) -> float:
        """Seconds since the session began."""
        return self._clock() - self._began_s

    def emit(self, event: Callable[..., ev.AnyEvent], **fields: Any) -> None:
        """Publish an event of this kind, with these fields, stamped with the present time."""
        made = event(at_s=self.at_s, **fields)
        if self._log:
            self._log(made)
        self._publish(made)

    def notice(self, message: str) -> None:
        """Publish a sentence for the user; the session continues."""
        self.emit(ev.Notice, message=message)

    def log_to(self, log: SessionLog) -> None:
        """From now on also write events to this log; `close` closes it."""
        self._log = log

    def close(self) -> None:
        """Close the log."""
        if self._log:
            self._log.close()
