"""What a transfer over several nodes keeps from one attempt to the next."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advisor.agent.peer_errors import PeerError
from advisor.agent.target_messages import TargetClaimed
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.proof import Algorithm
from advisor.fleet.nodes.crew import Crew
from advisor.fleet.nodes.session import NodesOptions, _NodesSession
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.runtime.control import Control
from advisor.runtime.exit_codes import EXIT_INTERRUPTED
from advisor.runtime.request import TransferRequest
from advisor.store.history import Store
from advisor.store.postgres.address import Address
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.delivery import DeliveryOptions
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import NotedPart, TransferJournal
from advisor.transfer.engine.outcome import TransferOutcome, TransferState
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.proof import Proofs, Tell
from advisor.transfer.tuned.transfer import TransferOptions

PLACES = Places(source="/from", target="/to", destination_host="there")
FILES = [FileEntry(f"file{number}", 100, 1) for number in range(4)]
ROUTE: Any = SimpleNamespace(tool=SimpleNamespace(name="tool", carries=lambda _: ""), places=PLACES)


class Link:
    """The agent of the destination, which sees each file as it should be, once it is there."""

    is_away = False

    async def sizes(self, paths: Sequence[str]) -> list[int]:
        if self.is_away:
            raise PeerError("it is away")
        return [100] * len(paths)


class Attempts(_NodesSession):
    """A session whose attempts do what a test wants in place of nodes."""

    def __init__(self, folder: Path) -> None:
        request = TransferRequest(
            destination=Endpoint("there"),
            dataset=Dataset(total_bytes=400, path="/from"),
            destination_path="/to",
        )
        options = TransferOptions(
            delivery_options=DeliveryOptions(journals=folder, receipts=folder)
        )
        over = NodesOptions(nodes=[], queue=Address("postgresql:///none"))
        super().__init__(request, options, over, Store(folder), lambda _: None, Control())
        self.link = Link()
        self.far_end = SimpleNamespace(link=self.link)  # type: ignore[assignment] # what is used
        claimed = TargetClaimed(is_empty=True, is_resumed=False, since_s=1.0)
        proofs = Proofs(PLACES, Algorithm.BLAKE3)
        proofs.confirm = self._confirm  # type: ignore[method-assign] # no agent reads here
        self._delivery = SimpleNamespace(  # type: ignore[assignment] # what is used
            claimed=claimed, proofs=proofs, reading_back=lambda _, what: self.told.append
        )
        self.told: list[int] = []
        self.is_stopped_while_reading = False
        self.read_again: list[set[str]] = []
        self._doubted: Iterator[tuple[str, str]] = iter(())

    async def _confirm(
        self, link: object, parts: Sequence[Part], digests: object, tell: Tell | None = None
    ) -> list[bool]:
        assert tell is not None
        if self.is_stopped_while_reading:
            self.control.stop.set()
            await asyncio.Event().wait()
        self.read_again.append({part.file.name for part in parts})
        tell(sum(part.size_bytes for part in parts))
        return [True for _ in parts]

    async def _report(self, *_: object) -> None:
        await asyncio.Event().wait()

    async def _with_queue(self, crew: Crew, leases: object, state: TransferState) -> None:
        for suspect, of_other_agent in self._doubted:
            crew.suspects.add(suspect)
            crew.of_other_agents.add(of_other_agent)
            failed = TransferFailed("the claim is lost")
            failed.may_pass = True
            raise failed
        [group] = state.groups
        parts = [Part(file, 0, file.size_bytes) for file in group.files]
        await state.journal.note([NotedPart(part, "d" * 64) for part in parts])
        group.work.done(Batch(tuple(parts)))

    async def move(self, journal: TransferJournal, *doubted: tuple[str, str]) -> TransferOutcome:
        """One attempt, which loses the claim after it came to doubt these files, if any."""
        self._doubted = iter(doubted)
        return await self._move(ROUTE, TransferState([FileGroup("all", FILES)], journal), 0.0)


@pytest.mark.parametrize("is_away", [False, True])
def test_what_earlier_attempts_doubt_is_read_again_by_the_one_that_has_all(
    tmp_path: Path, is_away: bool
) -> None:
    async def run() -> None:
        session = Attempts(tmp_path)
        with TransferJournal(tmp_path, PLACES, lambda _: None) as journal:
            await journal.begin([])
            for doubted in (("file0", "file1"), ("file2", "file1")):
                assert (await session.move(journal, doubted)).may_pass
            if is_away:
                session.link.is_away = True
                assert not (await session.move(journal)).has_all_files
                session.link.is_away = False
            assert (await session.move(journal)).complete
            assert session.read_again == [{"file0", "file1", "file2"}]
            assert len(session.told) == 1
            assert (await session.move(journal)).complete
            assert len(session.read_again) == 1

    asyncio.run(run())


def test_what_is_read_again_when_the_user_stops_is_neither_complete_nor_taken_for_read(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        session = Attempts(tmp_path)
        with TransferJournal(tmp_path, PLACES, lambda _: None) as journal:
            await journal.begin([])
            await session.move(journal, ("file0", "file1"))
            session.is_stopped_while_reading = True
            async with asyncio.timeout(60):
                outcome = await session.move(journal)
            assert (outcome.complete, outcome.has_all_files) == (False, False)
            assert outcome.exit_code == EXIT_INTERRUPTED
            assert "read again: stopped" in outcome.message
            assert session._suspects | session._of_other_agents == {"file0", "file1"}

    asyncio.run(run())
