"""Runs a transfer tool once on this host and watches its progress.

Progress is what the other side's kernel has acknowledged. Where that is not visible (UDT), it is
what the tool reports.
"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from advisor.api.tool import OutputReader, Step
from advisor.domain.measurement import Interval
from advisor.hosts.processes import Child, command_bound_to_stdin, running
from advisor.hosts.socket_diag import ProcessSockets, ServerSockets

_KEPT_CHARACTERS: Final = 64 * 1024
_LINE_END: Final = re.compile(r"[\r\n]")
_CHUNK_BYTES: Final = 64 * 1024
_LAST_WORDS_S: Final = 1.0


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the run.

    `status`: exit status, None when it was stopped at the time limit, 1 when it was ended because
    it said that it has failed. `intervals`: relative to the first byte. `begun_s`: from the start
    of the program to the first byte; `elapsed_s`: to its end.
    `output`, `errors`: the last 64 KiB it printed.
    """

    status: int | None
    intervals: list[Interval]
    moved_bytes: int
    begun_s: float
    elapsed_s: float
    retransmits: int | None
    rtt_s: float | None
    output: str
    errors: str


class _Watch:
    """The totals of a running tool, sampled."""

    def __init__(
        self,
        child: Child,
        step: Step,
        reader: OutputReader,
        total_bytes: int,
        every_s: float,
        seen: Callable[[Interval], None],
    ) -> None:
        self._clock = asyncio.get_running_loop().time
        self._sockets = _sockets(step, child)
        self._login_bytes = step.login_bytes
        self._child = child
        self._reader = reader
        self._total_bytes = total_bytes
        self._every_s = every_s
        self._seen = seen
        self._said_bytes = 0
        self.began_s = self._clock()
        self.first_s: float | None = None
        self.last_s = 0.0
        self.moved_bytes = 0
        self.intervals: list[Interval] = []
        self.output = ""
        self.has_failed = asyncio.Event()
        self.retransmits: int | None = None
        self.rtts_s: list[float] = []

    async def read(self) -> None:
        """Read what it prints, to the end."""
        rest = ""
        while chunk := await self._child.stdout.read(_CHUNK_BYTES):
            text = chunk.decode(errors="replace")
            self.output = (self.output + text)[-_KEPT_CHARACTERS:]
            *lines, rest = _LINE_END.split(rest + text)
            for line in lines:
                progress = self._reader.feed(line)
                if progress and progress.moved_bytes is not None:
                    self._said_bytes = progress.moved_bytes
                if progress and progress.has_failed:
                    self.has_failed.set()

    async def sample(self) -> None:
        """Sample at regular intervals, forever."""
        while True:
            await asyncio.sleep(self._every_s)
            self.look()

    def look(self) -> None:
        """Add what was moved since the last sample."""
        totals = self._sockets.totals()
        if totals.connections:
            self.retransmits = totals.retransmits
        if totals.rtt_s:
            self.rtts_s.append(totals.rtt_s)
        acked_bytes = totals.acked_bytes - self._login_bytes * totals.connections
        self._count(max(acked_bytes, self._said_bytes), self._clock())

    def finish(self) -> None:
        """Count the rest: the tool succeeded, so the bytes after the last sample arrived too.

        The time the tool then took to exit is not counted as data time.
        """
        if self.moved_bytes < self._total_bytes:
            at_s = self._clock()
            if self.first_s is not None:
                at_s = min(at_s, self.last_s + self._every_s)
            self._count(self._total_bytes, at_s)

    def _count(self, total_bytes: int, at_s: float) -> None:
        """Record the total at a moment. Bytes beyond those of the files do not count."""
        total_bytes = min(max(total_bytes, self.moved_bytes), self._total_bytes)
        if total_bytes <= self.moved_bytes == self._total_bytes:
            return
        if self.first_s is None:
            if not total_bytes:
                return
            # It was zero at the sample before: the first byte went out in between.
            self.first_s = self.last_s = at_s - self._every_s / 2
        interval = Interval(
            self.last_s - self.first_s, at_s - self.first_s, total_bytes - self.moved_bytes
        )
        self.moved_bytes, self.last_s = total_bytes, at_s
        self.intervals.append(interval)
        self._seen(interval)

    def begun_s(self) -> float:
        """From the start to the first byte, or to now when none was sent."""
        return (self.first_s or self._clock()) - self.began_s

    def elapsed_s(self) -> float:
        """Since the start."""
        return self._clock() - self.began_s


async def run_transfer(
    step: Step,
    reader: OutputReader,
    list_file: Path,
    total_bytes: int,
    *,
    ceiling_s: float,
    sample_every_s: float,
    seen: Callable[[Interval], None],
) -> Ran:
    """Run it to its end or to the time limit. Raises OSError when it cannot be started.

    Cancelling ends the tool. `total_bytes`: what it moves when it succeeds.
    """
    if step.list_text is not None:
        list_file.write_text(step.list_text, encoding="utf-8")
    async with running(command_bound_to_stdin(step.argv)) as child:
        watch = _Watch(child, step, reader, total_bytes, sample_every_s, seen)
        reading, sampling = asyncio.create_task(watch.read()), asyncio.create_task(watch.sample())
        status: int | None = None
        try:
            async with asyncio.timeout(ceiling_s):
                status = await _status_of(child, watch.has_failed)
            if not watch.has_failed.is_set():
                await asyncio.wait([reading], timeout=_LAST_WORDS_S)
        except TimeoutError:
            watch.look()
        finally:
            for task in (reading, sampling):
                task.cancel()
            await asyncio.wait((reading, sampling))
        if status == 0:
            watch.finish()
        return Ran(
            status=status,
            intervals=watch.intervals,
            moved_bytes=watch.moved_bytes,
            begun_s=watch.begun_s(),
            elapsed_s=watch.elapsed_s(),
            retransmits=watch.retransmits,
            rtt_s=sum(watch.rtts_s) / len(watch.rtts_s) if watch.rtts_s else None,
            output=watch.output,
            errors=child.stderr.decode(errors="replace")[-_KEPT_CHARACTERS:],
        )


def _sockets(step: Step, child: Child) -> ProcessSockets | ServerSockets:
    """Those over which the data go."""
    if step.fetched_from is not None:
        return ServerSockets(step.fetched_from.port, step.fetched_from.client)
    return ProcessSockets(child.pid, step.control_port, with_children=step.by_children)


async def _status_of(child: Child, has_failed: asyncio.Event) -> int:
    """Its exit status; 1 as soon as it has failed, though it still runs."""
    ending, failing = asyncio.create_task(child.wait()), asyncio.create_task(has_failed.wait())
    try:
        await asyncio.wait((ending, failing), return_when=asyncio.FIRST_COMPLETED)
        return ending.result() if ending.done() else 1
    finally:
        for task in (ending, failing):
            task.cancel()
        await asyncio.wait((ending, failing))
