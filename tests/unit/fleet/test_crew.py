"""The coordinator and its nodes, which say what a test wants, with a real queue and journal."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.nodes import NodePair
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.proof import Algorithm
from advisor.fleet.nodes import crew as crews
from advisor.fleet.nodes.crew import Crew, CrewOptions
from advisor.fleet.nodes.member import Member, NodeGone
from advisor.fleet.nodes.queue import LotQueue
from advisor.models.leases import Leases, lots_of
from advisor.models.slicing import FileEntry, Part
from advisor.store.postgres.address import Address
from advisor.testing.samples import a_path
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import TransferJournal
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.proof import Proofs
from advisor.transfer.nodes import messages as n
from tests.postgres_server import SharedDatabase

KEY = "c" * 64
PLACES = Places(source="/from", target="/to", destination_host="there")
FILES = [FileEntry(f"file{number}", 6 * 2**20, 1) for number in range(8)]

Answer = Callable[[list[Part]], list[n.FromNode]]


def proven(part: Part, digest: str = "d" * 64) -> n.ArrivedPart:
    return n.ArrivedPart(n.LeasedPart.of(part), digest, "e" * 64)


def moves_all(parts: list[Part]) -> list[n.FromNode]:
    return [n.Arrived(parts=[proven(part)]) for part in parts]


class FakeLink:
    """A node that answers each lease, and asks for more."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._says: asyncio.Queue[n.FromNode | Exception] = asyncio.Queue()
        self.leased: list[Part] = []
        self.ends_well = False
        for one in (
            n.NodeGreeting(protocol=n.NODE_PROTOCOL, version="0"),
            n.Ready(path=a_path(), key=KEY, setting={}),
            n.Want(wanted_bytes=1),
        ):
            self._says.put_nowait(one)

    def say(self, order: n.NodeOrder) -> None:
        if isinstance(order, n.Finish):
            self._says.put_nowait(n.Ended())

    def lease(self, parts: list[Part]) -> None:
        self.leased += parts
        try:
            for one in self._answer(parts):
                self._says.put_nowait(one)
        except NodeGone as error:
            self._says.put_nowait(error)
        self._says.put_nowait(n.Want(wanted_bytes=1))

    async def messages(self) -> AsyncIterator[n.FromNode]:
        while True:
            one = await self._says.get()
            if isinstance(one, Exception):
                raise one
            yield one
            if isinstance(one, n.Ended):
                return

    async def close(self) -> bool:
        return self.ends_well


class Scene:
    """A crew of nodes on `s1`, `s2`…, each with an answer of its own for each run of it."""

    def __init__(self, database: SharedDatabase, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._database = database
        self._folder = folder
        self.links: dict[str, list[FakeLink]] = {}
        self.messages: list[str] = []
        self.group = FileGroup("all", FILES)
        self.crew: Crew
        self._answers: dict[str, Iterator[Answer]] = {}
        patch.setattr(crews.NodeLink, "start", self._start)
        patch.setattr(crews, "_FIRST_PAUSE_S", 0.1)

    async def _start(self, source: Endpoint, command: str) -> FakeLink:
        link = FakeLink(next(self._answers[source.host]))
        self.links.setdefault(source.host, []).append(link)
        return link

    def run(self, *answers: list[Answer]) -> None:
        """Move the files by nodes with these answers, one for each of their runs."""
        self._expect(answers)

        async def run() -> None:
            async with self._begun(), asyncio.timeout(100):
                await self.crew.run()

        asyncio.run(run())

    def stop(self, *answers: list[Answer], ends_well: str) -> float:
        """Stop nodes that have leases, of which this one ends well; how long the next run waits."""
        self._expect(answers)

        async def run() -> float:
            async with self._begun() as queue:
                running = asyncio.create_task(self.crew.run())
                while not all(self._leased(host) for host in self._answers):
                    await asyncio.sleep(0.01)
                self.links[ends_well][0].ends_well = True
                running.cancel()
                await asyncio.wait([running])
                await self.crew.settle()
                await queue.end("not complete")
                return await queue.begin(KEY, Pair("here", "there"), [1])

        return asyncio.run(run())

    def _expect(self, answers: Sequence[list[Answer]]) -> None:
        self._answers = {f"s{number}": iter(some) for number, some in enumerate(answers, 1)}

    def _leased(self, host: str) -> bool:
        return any(link.leased for link in self.links.get(host, []))

    @contextlib.asynccontextmanager
    async def _begun(self) -> AsyncIterator[LotQueue]:
        members = [
            Member(number, NodePair(source=Endpoint(name)), Pair(name, "there"))
            for number, name in enumerate(self._answers, 1)
        ]
        leases = Leases(lots_of(self.group.work, len(members)))
        queue = LotQueue(Address(self._database.address("alice")))
        proofs = Proofs(PLACES, Algorithm.BLAKE3)
        with TransferJournal(self._folder, PLACES, self.messages.append) as journal:
            await journal.begin([])
            await queue.begin(KEY, Pair("here", "there"), leases.sizes)
            self.crew = Crew(
                members,
                self.group,
                leases,
                queue,
                journal,
                proofs,
                CrewOptions(retry_s=60),
                key=KEY,
                begin=lambda _: n.StayAlive(number=0),  # type: ignore[arg-type,return-value] # it is not read
                epoch=lambda *_: None,
                tell=self.messages.append,
                suspects=set(),
                of_other_agents=set(),
            )
            try:
                yield queue
            finally:
                await queue.close()


@pytest.fixture
def scene(
    shared_database: SharedDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Scene:
    return Scene(shared_database, tmp_path, monkeypatch)


def test_nodes_move_everything_once_between_them(scene: Scene) -> None:
    scene.run([moves_all], [moves_all])
    assert scene.group.work.is_done
    parts = [part for links in scene.links.values() for link in links for part in link.leased]
    assert sum(part.size_bytes for part in parts) == sum(file.size_bytes for file in FILES)
    assert not scene.crew.suspects


@pytest.mark.parametrize(
    "lie",
    [
        n.Arrived(parts=[proven(Part(FileEntry("other", 10, 1), 0, 10))]),
        n.Arrived(parts=[proven(Part(FILES[0], 0, FILES[0].size_bytes - 1))] * 2),
        n.Arrived(parts=[proven(Part(FileEntry("file0", 6 * 2**20, 2), 0, 6 * 2**20))]),
    ],
)
def test_a_node_that_reports_what_it_was_not_given_is_not_used_any_more(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, lie: n.FromNode
) -> None:
    # Nobody waits here until what it may still write is past.
    monkeypatch.setattr("advisor.fleet.nodes.queue.LEASE_S", 1.0)
    scene.run([lambda _: [lie]], [moves_all])
    assert scene.group.work.is_done
    assert any("no node to trust" in one for one in scene.messages)
    assert len(scene.links["s1"]) == 1


def test_a_part_without_its_checksum_is_no_proof(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.fleet.nodes.queue.LEASE_S", 1.0)
    scene.run([lambda parts: [n.Arrived(parts=[proven(parts[0], "")])]], [moves_all])
    assert any("without its checksum" in one for one in scene.messages)
    assert scene.group.work.is_done


def test_what_a_lost_node_had_is_read_again_and_moved_by_another(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.fleet.nodes.queue.LEASE_S", 1.0)

    def dies(parts: list[Part]) -> list[n.FromNode]:
        raise NodeGone("it is gone")

    scene.run([dies, moves_all], [moves_all])
    assert scene.group.work.is_done
    lost = scene.links["s1"][0].leased
    assert scene.crew.suspects == {part.file.name for part in lost}


def test_a_file_that_fails_everywhere_is_set_aside_and_elsewhere_is_moved(scene: Scene) -> None:
    def fails(*names: str) -> Answer:
        def answer(parts: list[Part]) -> list[n.FromNode]:
            messages: list[n.FromNode] = []
            for part in parts:
                if part.file.name in names:
                    file = n.LeasedPart.of(Part(part.file, 0, 0))
                    messages.append(n.FileFailed(file=file, message=f"{part.file.name} fails"))
                else:
                    messages.append(n.Arrived(parts=[proven(part)]))
            return messages

        return answer

    scene.run([fails("file1", "file2")], [fails("file2", "file3")])
    assert scene.group.work.is_done
    assert [one.file.name for one in scene.group.failed_files] == ["file2"]
    assert scene.group.arrived_files == len(FILES) - 1


def test_without_any_node_left_it_fails_with_the_reason(scene: Scene) -> None:
    full = Problem(kind=ProblemKind.FAILED, reason="the disk is full")

    def ends(parts: list[Part]) -> list[n.FromNode]:
        return [n.Ended(problem=full)]

    with pytest.raises(TransferFailed, match="the disk is full"):
        scene.run([ends], [ends])
    assert not scene.crew.suspects


def test_pieces_that_another_process_has_drawn_end_it(
    scene: Scene, shared_database: SharedDatabase
) -> None:
    def is_robbed(parts: list[Part]) -> list[n.FromNode]:
        shared_database.execute("UPDATE advisor.transfer_lots SET lease = -1")
        return moves_all(parts)

    with pytest.raises(TransferFailed, match="another process has drawn"):
        scene.run([is_robbed])


def holds_all(parts: list[Part]) -> list[n.FromNode]:
    return []


def test_the_next_run_waits_for_a_node_that_was_stopped_and_may_still_write(scene: Scene) -> None:
    wait_s = scene.stop([holds_all], [holds_all], ends_well="s1")
    assert 0 < wait_s <= 30
    held = scene.links["s2"][0].leased
    assert scene.crew.suspects == {part.file.name for part in held}


def test_the_next_run_does_not_wait_for_nodes_that_have_ended(scene: Scene) -> None:
    assert scene.stop([holds_all], ends_well="s1") == 0
    assert not scene.crew.suspects


def test_a_node_that_is_not_to_be_trusted_has_not_ended_by_its_own_account(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.fleet.nodes.queue.LEASE_S", 1.0)
    monkeypatch.setattr(FakeLink, "close", says_it_has_ended)
    wrong = n.Arrived(parts=[proven(Part(FileEntry("other", 10, 1), 0, 10))])
    scene.run([lambda _: [wrong]], [moves_all])
    assert scene.group.work.is_done
    assert scene.crew.suspects


async def says_it_has_ended(link: FakeLink) -> bool:
    return True
