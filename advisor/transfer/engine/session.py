"""What sessions that move a dataset have in common: connect, resume, move, record."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from advisor.domain import events as ev
from advisor.domain.path import PathFacts
from advisor.domain.records import Record, TransferRecord
from advisor.models.piecework import Done
from advisor.models.slicing import FileEntry
from advisor.runtime.connect import FarEnd, look_at_path, pair_of
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_FAILED
from advisor.runtime.lifecycle import Session
from advisor.runtime.request import ConnectionOptions
from advisor.runtime.stop import Stopped
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.journal import JournalStuck, TransferJournal, TransferRuns
from advisor.transfer.engine.mover import ClientOptions, Mover
from advisor.transfer.engine.outcome import TransferOutcome, TransferState, outcome_of
from advisor.transfer.engine.progress import Phase, report_progress
from advisor.transfer.engine.resume import confirmed_done, resume_message
from advisor.transfer.engine.route import Route


class JournalOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where an interrupted transfer is resumed from.

    `journals`: the folder of the journals of incomplete transfers. `anew`: ignore the journal and
    move everything again.
    """

    journals: Path
    anew: bool = False


class EngineRun:
    """One run of the engine. `outcome`: how it ended, once it has."""

    def __init__(self, mover: Mover) -> None:
        self.mover = mover
        self.outcome: TransferOutcome


class TransferSession(Session):
    """A session that moves files to one destination."""

    exit_codes: ClassVar[Mapping[type[Exception], int]] = {
        TransferRuns: EXIT_FAILED,
        JournalStuck: EXIT_FAILED,
        OSError: EXIT_FAILED,
    }
    stopped_message: ClassVar[str] = "stopped before anything was moved"

    def __init__(
        self,
        connection: ConnectionOptions,
        journal_options: JournalOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(store, publish, control)
        self.connection = connection
        self.pair = pair_of(connection)
        self.far_end = FarEnd(connection)
        self._journal_options = journal_options
        self._has_store_failed = False

    @property
    def _secret_file(self) -> str | None:
        return self.connection.secret_file

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

    def journal(self, route: Route) -> TransferJournal:
        """The journal of this transfer, to be entered."""
        return TransferJournal(self._journal_options.journals, route.places, self.events.notice)

    async def done(
        self, journal: TransferJournal, route: Route, files: Sequence[FileEntry]
    ) -> Done:
        """The ranges that need not be moved again. Raises PeerError, JournalStuck."""
        # Only at the start: after a lost connection, what this session has moved counts.
        if self._journal_options.anew and not self.ends_itself:
            journal.forget()
        carried = [file for file in files if not route.tool.carries(file.name)]
        done = await confirmed_done(journal, self.far_end.link, route.places, carried)
        if words := resume_message(files, done):
            self.events.notice(words)
        return done

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
        )
        self.ends_itself = True
        run = EngineRun(mover)
        began_s = self.clock() if began_s is None else began_s
        failure: TransferFailed | None = None
        is_over = False
        reporting = asyncio.create_task(report_progress(groups, self.events.emit, phase))
        try:
            async with mover:
                yield run
            is_over = True
        except TransferFailed as error:
            failure = error
        except Stopped:
            pass
        finally:
            reporting.cancel()
            await asyncio.wait([reporting])
        run.outcome = outcome_of(state, self.clock() - began_s, failure, is_over=is_over)

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
        """Store a record. If the store fails, that is told once, and the transfer continues."""
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
