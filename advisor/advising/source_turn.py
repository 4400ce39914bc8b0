"""The turn on this host while a probe is sent from it: others that measure here wait, as this does.

The agent at the destination holds the turn there. Both are taken source first, and a session that
has to wait at the destination gives its turn here to others for that time: two sessions in opposite
directions would wait for each other forever. When its turn there has come it continues, also if
somebody measures here by then, which is rare and disturbs the one probe.
"""

import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec

from advisor.advising.prober import Watcher
from advisor.agent.turn import Turn


class SourceTurn:
    """The turn of one session at its source. `destination`: the address that it sends to.

    A destination on this host takes the turn by itself.
    """

    def __init__(self, destination: str) -> None:
        self._turn = Turn()
        self._is_taken_there = _is_of_this_host(destination)

    @contextlib.asynccontextmanager
    async def held(self, watcher: Watcher) -> AsyncIterator[Watcher]:
        """Hold it for the block, whose probe reports to the watcher that this gives."""
        if self._is_taken_there:
            yield watcher
            return
        turn = self._turn

        def waits_there(ahead: int) -> None:
            turn.lend()
            watcher.waiting(ahead)

        def begins() -> None:
            turn.take_back()
            watcher.ready()

        async with turn.taken(_telling(watcher)):
            yield msgspec.structs.replace(watcher, waiting=waits_there, ready=begins)

    @contextlib.asynccontextmanager
    async def held_alone(self, watcher: Watcher) -> AsyncIterator[None]:
        """Hold it for the block, whose probe takes no turn at the destination."""
        async with self._turn.taken(_telling(watcher)):
            yield

    async def awaited(self, watcher: Watcher) -> None:
        """Wait until nobody measures here, and hold nothing.

        For probes whose wait at the destination is not reported.
        """
        if not self._is_taken_there:
            async with self._turn.taken(_telling(watcher)):
                pass


def _telling(watcher: Watcher) -> Callable[[int], Awaitable[None]]:
    async def tell(ahead: int) -> None:
        watcher.waiting_here(ahead)

    return tell


def _is_of_this_host(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return False
        return True
