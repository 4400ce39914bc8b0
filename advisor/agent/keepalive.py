"""Notices that the other side of a conversation fell silent.

A TCP connection, and ssh even more so, may stay open for hours after the other host has stopped,
and a peer may hold it open on purpose. So both sides say something at least every ten seconds, and
thirty seconds of silence are a lost peer, whatever else is in progress.
"""

import asyncio
from collections.abc import Callable
from typing import Final

SILENCE_S: Final = 30.0
"""After this many seconds without a message the peer is lost."""

_BEATS: Final = 3


class Pulse:
    """One side's part: says that it is there, and watches that the other one does so too.

    Silence is counted in beats, not on a clock: a process that was suspended does not take its own
    standstill for the peer's.
    """

    def __init__(self, say: Callable[[], None], silence_s: float = SILENCE_S) -> None:
        """`say` sends a keepalive; it must not block. `silence_s`: what is taken for a loss."""
        self._say = say
        self._every_s = silence_s / _BEATS
        self._heard = False

    def heard(self) -> None:
        """The other side said something."""
        self._heard = True

    async def until_silent(self) -> None:
        """Say something at every beat; return when the other side was silent for `silence_s`."""
        silent_beats = 0
        while silent_beats < _BEATS:
            await asyncio.sleep(self._every_s)
            self._say()
            silent_beats = 0 if self._heard else silent_beats + 1
            self._heard = False
