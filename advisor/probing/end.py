"""The parent's side of one end of a probe, and spare children started in advance.

Starting an interpreter takes longer than opening a connection. To keep that time out of the gap
between probes, a spare starts while a probe is still in its start-up phase, which the mean excludes
anyway.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from advisor.api.transport import ReceiveOrder, Report, SendOrder, Trouble
from advisor.domain.measurement import FailureKind
from advisor.hosts.decoding import LINE_LIMIT_BYTES, decoded
from advisor.hosts.processes import Child, start, whole
from advisor.probing.child import Task

# -P: the working directory must not decide which `advisor` package is imported. -u: what a library
# printed is not lost when the child is ended (Python sets this for C's standard output too).
_ARGV: Final = (sys.executable, "-P", "-u", "-m", "advisor.probing.child")
_DECODER: Final = msgspec.json.Decoder(Report)


class ProbeEnd:
    """One running end."""

    def __init__(self, child: Child) -> None:
        self._child = child

    @property
    def raw_output(self) -> bytes:
        """What the foreign code printed."""
        return self._child.stderr

    async def give(self, transport: str, order: ReceiveOrder | SendOrder) -> None:
        """Send it its order. Raises ConnectionError when the child is gone."""
        if isinstance(order, ReceiveOrder):
            task = Task(transport=transport, receive=order)
        else:
            task = Task(transport=transport, send=order)
        self._child.stdin.write(msgspec.json.encode(task) + b"\n")
        await self._child.stdin.drain()

    async def reports(self) -> AsyncIterator[Report]:
        """Yield its reports until it ends.

        The last one is a Trouble if the child ended without being asked to.
        """
        try:
            while line := await self._child.stdout.readline():
                yield decoded(_DECODER, line, LINE_LIMIT_BYTES)
        except ValueError as error:
            yield Trouble(kind=FailureKind.CRASHED, message=f"the probe's child wrote {error}")
            return
        status = await self._child.wait()
        if status:
            words = self._child.stderr.decode(errors="replace").strip().splitlines()
            last = words[-1] if words else f"exit status {status}"
            yield Trouble(kind=FailureKind.CRASHED, message=f"the probe's child ended: {last}")

    async def end(self) -> None:
        """Stop it now."""
        await self._child.end()


class Spares:
    """Provides children that have already started."""

    def __init__(self) -> None:
        self._spare: asyncio.Task[Child] | None = None

    def prepare(self) -> None:
        """Start one for the next `take`."""
        if self._spare is None:
            self._spare = asyncio.create_task(start(_ARGV))

    @contextlib.asynccontextmanager
    async def take(self) -> AsyncIterator[ProbeEnd]:
        """Take a child to run one end; it is ended when the block is left."""
        self.prepare()
        spare, self._spare = self._spare, None
        if spare is None:
            raise RuntimeError("prepare leaves a spare")
        try:
            child = await asyncio.shield(spare)
        except asyncio.CancelledError:
            # It may have started just now, or be about to.
            await whole(_end_spare(spare))
            raise
        try:
            yield ProbeEnd(child)
        finally:
            await whole(child.end())

    async def close(self) -> None:
        """End the spare, if there is one."""
        if self._spare is not None:
            spare, self._spare = self._spare, None
            await whole(_end_spare(spare))


async def _end_spare(spare: asyncio.Task[Child]) -> None:
    with contextlib.suppress(OSError):  # It could not be started: there is nothing to end.
        child = await spare
        await child.end()
