"""What sessions that move a dataset have in common: how they reach it, go on, and end."""

import asyncio
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from advisor.agent.client import AgentLink, PeerError
from advisor.agent.connect import Reached
from advisor.agent.secret import BadSecret
from advisor.domain import events as ev
from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.records import Record, TransferRecord
from advisor.hosts.datasets import listed_files
from advisor.models.piecework import Done
from advisor.models.slicing import FileEntry
from advisor.runtime.connect import look_at_path, pair_of, reach
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.store.errors import StoreError
from advisor.store.event_log import EventLog
from advisor.store.history import Store
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.journal import JournalStuck, TransferJournal, TransferRuns
from advisor.transfer.engine.mover import ClientOptions, Mover
from advisor.transfer.engine.outcome import (
    EXIT_INTERRUPTED,
    EXIT_NOT_ALL,
    EXIT_PEER,
    EXIT_USAGE,
    TransferOutcome,
    TransferState,
    outcome_of,
)
from advisor.transfer.engine.progress import Phase, report_progress
from advisor.transfer.engine.resume import confirmed_done, resume_message
from advisor.transfer.engine.route import Route, source_of

Publish = Callable[[ev.AnyEvent], None]


class JournalOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where a transfer that is broken off is kept. `anew`: move all, whatever has arrived before.

    `journals`: the folder for what has arrived of transfers that are not complete.
    """

    journals: Path
    anew: bool = False


class TransferSession(ABC):
    """One such session, from the request to its last event. It is run once."""

    def __init__(
        self,
        request: AdviceRequest,
        journal_options: JournalOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        self.request = request
        self.store = store
        self.control = control
        self.name = secrets.token_hex(8)
        self.pair = pair_of(request)
        self._journal_options = journal_options
        self._publish = publish
        self._clock = asyncio.get_running_loop().time
        self._began_s = self._clock()
        self._reached: Reached | None = None
        self._log: EventLog | None = None
        self._has_begun = False
        self._has_store_failed = False

    @abstractmethod
    async def _run(self) -> int:
        """Do it; the exit code."""

    async def run(self) -> int:
        """Do it; the exit code. What is in the way is told as the event `gave_up`."""
        try:
            return await self._run_unless_stopped()
        except PeerError as error:
            return self._give_up(str(error), EXIT_PEER)
        except BadSecret as error:
            return self._give_up(f"--secret-file {self.request.secret_file} {error}", EXIT_USAGE)
        except (StoreError, TransferRuns, JournalStuck) as error:
            return self._give_up(str(error), EXIT_NOT_ALL)
        except OSError as error:
            return self._give_up(f"{error.filename}: {error.strerror}", EXIT_NOT_ALL)
        except ValueError as error:
            return self._give_up(str(error), EXIT_USAGE)
        finally:
            await self._let_go()
            if self._log:
                self._log.close()

    async def _run_unless_stopped(self) -> int:
        """Before anything is moved there is nothing to end in order: it is cancelled."""
        running = asyncio.ensure_future(self._run())
        stopping = asyncio.create_task(self.control.stop.wait())
        try:
            await asyncio.wait((running, stopping), return_when=asyncio.FIRST_COMPLETED)
            if self._has_begun or running.done():
                return await running
            return self._give_up("stopped before anything was moved", EXIT_INTERRUPTED)
        finally:
            for task in (running, stopping):
                task.cancel()
            await asyncio.wait((running, stopping))

    def tell(self, event: type[ev.Event], **fields: Any) -> None:
        """Publish an event of this kind."""
        made: Any = event(at_s=self._clock() - self._began_s, **fields)
        if self._log:
            self._log(made)
        self._publish(made)

    def keep_events(self) -> None:
        """From now on keep in the history what is told, for a review of it."""
        self._log = self.store.event_log(self.pair, self.name)

    def notice(self, message: str) -> None:
        """Say something that stops nothing."""
        self.tell(ev.Notice, message=message)

    def _give_up(self, message: str, exit_code: int) -> int:
        self.tell(ev.GaveUp, message=message, exit_code=exit_code)
        return exit_code

    @property
    def link(self) -> AgentLink:
        """To the agent at the destination, once that was reached."""
        if self._reached is None:
            raise RuntimeError("nobody has been reached yet")
        return self._reached.link

    @property
    def dataset(self) -> Dataset:
        """What is moved, as it was scanned. Raises ValueError where nothing was said of it."""
        if self.request.dataset is None:
            raise ValueError("moving files needs DATA: what to move")
        return self.request.dataset

    @property
    def unreadable(self) -> int:
        """How many files and folders cannot be read, and so are not among the files to move."""
        return self.dataset.unreadable

    async def files(self) -> list[FileEntry]:
        """All there are to move, by name. Raises OSError."""
        return await asyncio.to_thread(listed_files, Path(source_of(self.request)))

    async def reach(self) -> PathFacts:
        """The path to the destination, once it was reached. Raises PeerError, BadSecret."""
        self._reached = await reach(self.request)
        path = await look_at_path(self._reached, self.request)
        self.tell(ev.PathFound, path=path, limits=[])
        return path

    async def reach_again(self) -> None:
        """A new connection to the destination, after the old one was lost. Raises PeerError."""
        await self._let_go()
        self._reached = await reach(self.request)

    async def _let_go(self) -> None:
        if self._reached:
            link, self._reached = self._reached.link, None
            await asyncio.shield(link.close())

    def journal(self, route: Route) -> TransferJournal:
        """That of this transfer, to be entered."""
        return TransferJournal(self._journal_options.journals, route.places, self.notice)

    async def done(
        self, journal: TransferJournal, route: Route, files: Sequence[FileEntry]
    ) -> Done:
        """What need not be moved again; it is told. Raises PeerError, JournalStuck."""
        # Only at the beginning: what this run has moved counts where the path was lost meanwhile.
        if self._journal_options.anew and not self._has_begun:
            journal.forget()
        carried = [file for file in files if not route.tool.carries(file.name)]
        done = await confirmed_done(journal, self.link, route.places, carried)
        if words := resume_message(files, done):
            self.notice(words)
        return done

    async def move(
        self,
        route: Route,
        state: TransferState,
        client_options: ClientOptions,
        work: Callable[[Mover], Coroutine[Any, Any, None]],
        phase: Callable[[], Phase] = lambda: "transfer",
        began_s: float | None = None,
    ) -> TransferOutcome:
        """See `work` to its end, or to that of the session, and say how far it is meanwhile.

        `began_s`: by the event loop's clock, where it began before.
        """
        groups = state.groups
        mover = Mover(
            self.link, route, groups, client_options, tell=self.notice, note=state.journal.note
        )
        self._has_begun = True
        began_s = self._clock() if began_s is None else began_s
        failure: TransferFailed | None = None
        looking = asyncio.create_task(report_progress(groups, self.tell, phase))
        try:
            async with mover:
                is_over = await self.control.until_stopped(work(mover))
        except TransferFailed as error:
            failure, is_over = error, False
        finally:
            looking.cancel()
            await asyncio.wait([looking])
        return outcome_of(state, self._clock() - began_s, failure, is_over=is_over)

    def keep_transfer(self, outcome: TransferOutcome, note: str, after: str | None = None) -> None:
        """Store what was moved by this run, if anything was.

        `after`: the session whose advice it is to be held against; None for none.
        """
        moved_bytes = outcome.moved_bytes - outcome.earlier_bytes
        if moved_bytes:
            self.keep(
                TransferRecord(
                    pair=self.pair,
                    recorded_s=time.time(),
                    session=after or self.name,
                    total_bytes=moved_bytes,
                    elapsed_s=outcome.elapsed_s,
                    note=note,
                )
            )

    def keep(self, record: Record) -> None:
        """Store it. Where the history takes nothing the transfer is none the worse: that is told.

        Once, as it would be the same again.
        """
        try:
            self.store.append(record)
        except StoreError as error:
            if not self._has_store_failed:
                self.notice(f"{error}: the transfer goes on, but the history knows nothing of it")
            self._has_store_failed = True

    def forget(self, journal: TransferJournal) -> None:
        """The transfer is complete."""
        try:
            journal.forget()
        except JournalStuck as error:
            self.notice(str(error))
