"""What sessions that move a dataset have in common: connect, resume, move, record."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import ClassVar

from advisor.agent.peer_errors import PeerError
from advisor.agent.target import TargetBusy
from advisor.domain import events as ev
from advisor.domain.manifest import Manifest
from advisor.domain.names import names_in_short
from advisor.domain.path import PathFacts
from advisor.domain.records import Record, TransferRecord
from advisor.models.piecework import Done
from advisor.runtime.connect import FarEnd, look_at_path, pair_of
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_FAILED
from advisor.runtime.lifecycle import Session
from advisor.runtime.request import ConnectionOptions, TransferRequest
from advisor.runtime.stop import Stopped
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.client_options import ClientOptions
from advisor.transfer.engine.completion import ReceiptNotWritten, complete
from advisor.transfer.engine.delivery import Delivery, TargetRefused
from advisor.transfer.engine.journal import JournalStuck, TransferJournal, TransferRuns
from advisor.transfer.engine.mover import Mover
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.outcome import (
    TransferOutcome,
    TransferState,
    after_completion,
    exclusions_as_text,
    not_completed,
    outcome_of,
)
from advisor.transfer.engine.progress import Phase, report_progress
from advisor.transfer.engine.resume import resume_message
from advisor.transfer.engine.route import Route


class EngineRun:
    """One run of the engine. `outcome`: how it ended, once it has."""

    def __init__(self, mover: Mover) -> None:
        self.mover = mover
        self.outcome: TransferOutcome


class Attempt:
    """Whether what was tried came to its end, or why not; neither if it was stopped."""

    def __init__(self) -> None:
        self.is_over = False
        self.failure: TransferFailed | None = None


class TransferSession(Session):
    """A session that moves files to one destination."""

    exit_codes: ClassVar[Mapping[type[Exception], int]] = {
        TransferRuns: EXIT_FAILED,
        JournalStuck: EXIT_FAILED,
        TargetBusy: EXIT_FAILED,
        TargetRefused: EXIT_FAILED,
        OSError: EXIT_FAILED,
    }
    stopped_message: ClassVar[str] = "stopped before anything was moved"

    def __init__(
        self,
        connection: ConnectionOptions,
        delivery_options: DeliveryOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(store, publish, control)
        self.connection = connection
        self.pair = pair_of(connection)
        self.far_end = FarEnd(connection, self.events.notice)
        self._delivery_options = delivery_options
        self._delivery: Delivery | None = None
        self._has_store_failed = False

    async def _close(self) -> None:
        await self.far_end.close()
        await super()._close()

    def keep_events(self) -> None:
        """From now on write the events to the history, for a later review of the session."""
        self.events.log_to(self.store.event_log(self.pair, self.id))

    async def connect(self) -> PathFacts:
        """Connect to the destination; returns the path. Raises PeerError, BadSecret."""
        await self.far_end.connect()
        path = await look_at_path(self.far_end.reached, self.connection)
        self.events.emit(ev.PathFound, path=path, limits=[])
        return path

    def tell_limits(self, route: Route) -> None:
        """Say what the tool cannot do, before it starts."""
        if route.moves_whole_files:
            self.events.notice(
                f"{route.tool.name} moves whole files: a large one is not shared among clients, "
                "and is moved again from its start after an interruption."
            )

    def journal(self, route: Route) -> TransferJournal:
        """The journal of this transfer, to be entered."""
        return TransferJournal(self._delivery_options.journals, route.places, self.events.notice)

    @property
    def delivery(self) -> Delivery:
        """What happens at the target, once it was opened."""
        assert self._delivery is not None
        return self._delivery

    def open_delivery(self, route: Route, manifest: Manifest) -> Delivery:
        """Take up the target, and report what of the source is not moved."""
        self._delivery = Delivery(
            route.places, route.tool, manifest, self._delivery_options, self.events.notice
        )
        if manifest.unwanted:
            self.events.notice(
                f"Not moved, {exclusions_as_text(manifest.unwanted)}. To accept that, name them "
                "with --exclude."
            )
        return self._delivery

    async def done(self, journal: TransferJournal) -> Done:
        """Claim the target; returns the ranges that need not be moved again.

        Raises TargetBusy, TargetRefused, PeerError, JournalStuck.
        """
        done = await self.delivery.prepare(journal, self.far_end.link)
        if words := resume_message(self.delivery.files, done):
            self.events.notice(words)
        return done

    async def completed(
        self, request: TransferRequest, route: Route, outcome: TransferOutcome
    ) -> TransferOutcome:
        """The outcome after completing the target, where all files have arrived."""
        if not outcome.has_all_files:
            return outcome
        try:
            completion = await complete(
                self.delivery,
                self.far_end.link,
                request,
                self._delivery_options,
                route.tool.name,
                route.places,
            )
        except (PeerError, ReceiptNotWritten, OSError) as error:
            return not_completed(outcome, str(error))
        if completion.new:
            self.events.notice(
                "New at the source since the start, and not moved: "
                f"{names_in_short(completion.new)}."
            )
        if completion.not_represented:
            self.events.notice(
                "Not kept at the destination: "
                + "; ".join(f"{path}: {why}" for path, why in completion.shown)
                + "."
            )
        if completion.claim_left:
            self.events.notice(
                "What marks an unfinished transfer could not be removed at the destination "
                f"({completion.claim_left}): remove it, or the next transfer to this folder needs "
                "--take-over."
            )
        return after_completion(outcome, completion, self.delivery.manifest)

    @contextlib.asynccontextmanager
    async def engine(
        self,
        route: Route,
        state: TransferState,
        client_options: ClientOptions,
        phase: Callable[[], Phase] = lambda: "transfer",
        began_s: float | None = None,
    ) -> AsyncIterator["EngineRun"]:
        """Run the engine, and report progress, until the block ends, fails, or is stopped.

        Afterwards `outcome` of what is yielded says how it ended. `began_s`: when the transfer
        began, by the event loop's clock, if an earlier run of the engine began it.
        """
        groups = state.groups
        mover = Mover(
            self.far_end.link,
            route,
            groups,
            client_options,
            tell=self.events.notice,
            note=state.journal.note,
            stop=self.control.stop,
            proofs=self.delivery.proofs if self._delivery else None,
        )
        run = EngineRun(mover)
        began_s = self.clock() if began_s is None else began_s
        reporting = report_progress(groups, self.events.emit, phase)
        async with self.attempt(reporting) as attempt, mover:
            yield run
        run.outcome = outcome_of(
            state, self.clock() - began_s, attempt.failure, is_over=attempt.is_over
        )

    @contextlib.asynccontextmanager
    async def attempt(self, report: Coroutine[None, None, None]) -> AsyncIterator[Attempt]:
        """Let `report` follow the progress until the block ends, fails, or is stopped."""
        self.ends_itself = True
        attempt = Attempt()
        reporting = asyncio.create_task(report)
        try:
            yield attempt
            attempt.is_over = True
        except TransferFailed as error:
            attempt.failure = error
        except Stopped:
            pass
        finally:
            reporting.cancel()
            await asyncio.wait([reporting])

    def keep_transfer(self, outcome: TransferOutcome, note: str, after: str | None = None) -> None:
        """Store the transfer of what this session moved, if anything.

        `after`: the session whose advice it is compared with; None for none.
        """
        moved_bytes = outcome.moved_bytes - outcome.earlier_bytes
        if moved_bytes:
            self.keep(
                TransferRecord(
                    pair=self.pair,
                    recorded_s=time.time(),
                    session=after or self.id,
                    total_bytes=moved_bytes,
                    elapsed_s=outcome.elapsed_s,
                    note=note,
                )
            )

    def keep(self, record: Record) -> None:
        """Store a record. If the store fails, that is reported once, and the transfer continues."""
        try:
            self.store.append(record)
        except StoreError as error:
            if not self._has_store_failed:
                self.events.notice(f"{error}: the transfer continues, but is not in the history")
            self._has_store_failed = True

    def forget(self, journal: TransferJournal) -> None:
        """Delete the journal of a transfer that is complete."""
        try:
            journal.forget()
        except JournalStuck as error:
            self.events.notice(str(error))
