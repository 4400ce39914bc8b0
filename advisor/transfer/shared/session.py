"""What sessions that serve several destinations at once have in common."""

import asyncio
import contextlib
import math
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.records import ShareRecord
from advisor.domain.shares import Served, ServedRow, ShareOutcome, SharePurpose
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_FAILED, EXIT_PEER
from advisor.runtime.lifecycle import Session
from advisor.runtime.stop import Stopped, uninterrupted
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.transfer.shared.destination import DestinationSession
from advisor.transfer.shared.epochs import SharedEpoch, SharedEpochs

_LOOK_EVERY_S: Final = 0.2


class NoneReachable(ProblemError):
    """None of the destinations can be reached; the message is one sentence."""

    kind = ProblemKind.UNREACHABLE


def source_name() -> str:
    """The name of this host in the history."""
    return socket.gethostname() or "localhost"


class ShareSession(Session):
    """A session that serves several destinations of one source. It handles the order to stop."""

    exit_codes: ClassVar[Mapping[type[Exception], int]] = {
        NoneReachable: EXIT_PEER,
        OSError: EXIT_FAILED,
    }
    stopped_message: ClassVar[str] = "stopped before anything was moved"
    purpose: ClassVar[SharePurpose]

    def __init__(self, store: Store, publish: Publish, control: Control) -> None:
        super().__init__(store, publish, control)
        self.ends_itself = True
        self.source = source_name()
        self.sessions: Mapping[str, DestinationSession] = {}
        self.parallelism = 1
        self.tool = ""
        self._epochs = 0
        self._has_store_failed = False
        self._served_s: dict[str, float] = {}
        self._served_bytes: dict[str, int] = {}
        self._asked_bits: dict[str, float] = {}

    def hear(self, destination: str, event: ev.AnyEvent) -> None:
        """Emit an event of one destination as an event of the whole session."""
        match event:
            case ev.GaveUp(message=message):
                if not self.control.stop.is_set():
                    self.events.emit(
                        ev.DestinationEnded,
                        destination=destination,
                        complete=False,
                        message=message,
                    )
            case ev.Notice(message=message):
                self.events.notice(f"{destination}: {message}")
            case ev.DestinationEnded():
                fields = msgspec.structs.asdict(event)
                del fields["at_s"]
                self.events.emit(ev.DestinationEnded, **fields)

    @contextlib.asynccontextmanager
    async def serving(self, sessions: Sequence[DestinationSession]) -> AsyncIterator[list[str]]:
        """Connect to all destinations at once; yields the names of those that were reached.

        Leaving the block ends those that still run. Raises NoneReachable, Stopped.
        """
        self.sessions = {one.destination: one for one in sessions}
        tasks = [asyncio.create_task(one.serve()) for one in sessions]
        try:
            await self.control.until_stopped(_all_looked_at(sessions))
            if self.control.stop.is_set():
                raise Stopped
            _raise_errors(tasks)
            reached = [one.destination for one in sessions if not one.failure]
            if not reached:
                raise NoneReachable("none of the destinations can be served", remedy="see above")
            yield reached
            await self.control.until_stopped(_all_over(tasks))
            await asyncio.wait(tasks)
            _raise_errors(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await uninterrupted(asyncio.wait(tasks))

    @property
    def longest_rtt_s(self) -> float:
        """Of the paths to the destinations that were reached."""
        return max((one.path.rtt_s for one in self.sessions.values() if one.path), default=0.0)

    async def next_epoch(self, epochs: SharedEpochs) -> SharedEpoch | None:
        """Measure the next epoch; None when no destination will be served again."""
        while (epoch := await epochs.next()) is None:
            if all(one.is_over for one in self.sessions.values()):
                return None
            await asyncio.sleep(_LOOK_EVERY_S)
        return epoch

    def report(
        self,
        epoch: SharedEpoch,
        expected: Mapping[str, tuple[float, float]] | None = None,
        *,
        is_limited: bool = False,
    ) -> int:
        """Emit and store an epoch; returns its number, which counts from 1.

        `expected`: for each destination the expected and the requested rate, in bit/s.
        `is_limited`: a rate limit held a destination back. Then nothing is stored: what it got is
        not what its concurrency gives, and the total of the others includes files that waited.
        """
        self._epochs += 1
        expected = expected or {}
        rates_bps, errors = epoch.rates_bps, epoch.errors
        rows = []
        for name, level in epoch.concurrencies.items():
            expected_bps, asked_bps = expected.get(name, (None, None))
            rows.append(
                ServedRow(
                    destination=name,
                    concurrency=level,
                    measured_bps=rates_bps[name],
                    expected_bps=expected_bps,
                    asked_bps=asked_bps,
                    parallelism=epoch.streams[name],
                    error=errors[name] if math.isfinite(errors.get(name, math.inf)) else None,
                    failure="" if rates_bps[name] else "nothing arrived",
                )
            )
            self._count(name, epoch, asked_bps)
        self.events.emit(ev.SharesSeen, epoch=self._epochs, rows=rows)
        if epoch.is_whole and not is_limited:
            self._keep(epoch)
        return self._epochs

    def _count(self, name: str, epoch: SharedEpoch, asked_bps: float | None) -> None:
        """Add an epoch to the totals that are reported at the end."""
        self._served_s[name] = self._served_s.get(name, 0.0) + epoch.counted_s
        self._served_bytes[name] = self._served_bytes.get(name, 0) + epoch.carried_bytes[name]
        if asked_bps is not None:
            asked_bits = self._asked_bits.get(name, 0.0) + asked_bps * epoch.counted_s
            self._asked_bits[name] = asked_bits

    def outcomes(self) -> list[ShareOutcome]:
        """What each destination got in the epochs in which it was served."""
        return [
            ShareOutcome(
                destination=name,
                moved_bytes=self._served_bytes[name],
                rate_bps=self._served_bytes[name] * 8 / served_s,
                asked_bps=self._asked_bits[name] / served_s if name in self._asked_bits else None,
            )
            for name, served_s in self._served_s.items()
        ]

    def _keep(self, epoch: SharedEpoch) -> None:
        """Store what each destination got, for the models to learn from."""
        now_s, total = time.time(), sum(epoch.concurrencies.values())
        streams = sum(n * epoch.streams[name] for name, n in epoch.concurrencies.items())
        for name, rate_bps in epoch.rates_bps.items():
            if not rate_bps:
                continue
            served = Served(
                concurrency=epoch.concurrencies[name],
                source_concurrency=total,
                throughput_bps=rate_bps,
                parallelism=epoch.streams[name],
                source_streams=streams,
                when_s=now_s,
            )
            self._append(
                ShareRecord(
                    pair=Pair(self.source, name),
                    recorded_s=now_s,
                    session=self.id,
                    served=served,
                    parallelism=epoch.streams[name],
                    others={other: n for other, n in epoch.concurrencies.items() if other != name},
                    purpose=self.purpose,
                    tool=self.tool,
                )
            )

    def _append(self, record: ShareRecord) -> None:
        if self._has_store_failed:
            return
        try:
            self.store.append(record)
        except StoreError as error:
            self._has_store_failed = True
            self.store_failed(error)

    def store_failed(self, error: StoreError) -> None:
        """The history cannot be written: a session that is useless without it raises the error."""
        self.events.notice(f"{error}: the measurements are not in the history")


async def _all_looked_at(sessions: Sequence[DestinationSession]) -> None:
    await asyncio.gather(*(one.is_looked_at.wait() for one in sessions))


async def _all_over(tasks: Sequence[asyncio.Task[int]]) -> None:
    await asyncio.wait(tasks)


def _raise_errors(tasks: Sequence[asyncio.Task[int]]) -> None:
    """An error that ends no single destination ends all of them, and is not lost."""
    for task in tasks:
        if task.done() and not task.cancelled() and (error := task.exception()):
            raise error
