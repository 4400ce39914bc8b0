"""The commands that screens and labs start: a session runs in a process of its own.

So drawing never delays a measurement, foreign code cannot print on the screen, and a session in a
lab can enter its network. The end of its standard input orders it to stop: if this process is
killed, the session ends in order, and can be resumed.
"""

import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec

from advisor.domain.events import AnyEvent
from advisor.domain.orders import Order
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.hosts.processes import Child, start

ADVISOR: Final = (sys.executable, "-P", "-m", "advisor")
"""What starts this program."""

_GRACE_S: Final = 4.0


class AdvisorChild:
    """One running `advisor` command that prints events. `close` it on every way out."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._encoder = msgspec.json.Encoder()
        self._decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)

    @classmethod
    async def start(cls, arguments: Sequence[str]) -> "AdvisorChild":
        """`advisor ARGUMENTS…`. Raises OSError."""
        return cls(await start([*ADVISOR, *arguments]))

    @classmethod
    async def started_by(cls, argv: Sequence[str]) -> "AdvisorChild":
        """A command of advisor that this line starts, here or elsewhere. Raises OSError."""
        return cls(await start(argv))

    async def lines(self, most_bytes: int) -> AsyncIterator[bytes]:
        """What it prints, line by line, until it ends. Raises BadData for a longer line."""
        left = b""
        while chunk := await self._child.stdout.read(65536):
            *whole, left = (left + chunk).split(b"\n")
            for line in whole:
                yield line
            if len(left) > most_bytes:
                raise BadData(f"a line is longer than {most_bytes} bytes")

    async def events(self) -> AsyncIterator[AnyEvent]:
        """Its events, until it ends. Lines that are not events are skipped.

        Raises BadData for a line that is longer than any event.
        """
        async for line in self.lines(LINE_LIMIT_BYTES):
            with contextlib.suppress(BadData):
                yield decoded(self._decoder, line, LINE_LIMIT_BYTES)

    def order(self, order: Order) -> None:
        """Send an order to a command that was started with --orders."""
        self.send(self._encoder.encode(order) + b"\n")

    def send(self, line: bytes) -> None:
        """Write a line to its standard input."""
        # It may have just ended.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._child.stdin.write(line)

    async def ended(self) -> tuple[int, str]:
        """Its exit status and its last line on standard error; await it after the events."""
        status, words = await self.last_words()
        said = words.strip().splitlines()
        return status, said[-1] if said else ""

    async def last_words(self) -> tuple[int, str]:
        """Its exit status, and what it said on standard error."""
        status = await self._child.wait()
        return status, self._child.stderr.decode(errors="replace")

    async def cancel(self) -> None:
        """End it now, without a result: it ends its own children on its way out."""
        with contextlib.suppress(ProcessLookupError):
            # The first signal is the order to stop, the second to leave at once. Two equal ones
            # could be delivered as one.
            self._child.send(signal.SIGTERM)
            self._child.send(signal.SIGINT)
        await self._child.end(_GRACE_S)

    async def close(self, *, at_once: bool = False) -> None:
        """End it; unless `at_once`, it may still store its results."""
        await self._child.end(0.0 if at_once else _GRACE_S)
