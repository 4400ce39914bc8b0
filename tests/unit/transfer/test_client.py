"""How long a client may be silent, on a clock that does not wait."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.api.tool import Progress, Step
from advisor.domain.measurement import Interval
from advisor.hosts.datasets import listed_files
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.probing.transfer import Ran
from advisor.testing.samples import a_path
from advisor.transfer.engine import client as module
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.client_options import ClientOptions
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.mover import Mover, TransferFailed
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.route import Route
from tests.skipping_loop import run_skipping

STALL_S = 15.0
STEP = Step(side="source", argv=["true"])
DONE = Ran(
    status=0,
    intervals=[],
    moved_bytes=0,
    begun_s=0.0,
    elapsed_s=1.0,
    retransmits=None,
    rtt_s=None,
    output="",
    errors="",
)


class Silent:
    """A reader of lines, each with the number of files; of others if there is none."""

    def feed(self, line: str) -> Progress | None:
        return Progress(files_begun=int(line) if line.isdigit() else None)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes runs of the tool of moments and of what the other side has received by then.

    The last moment is the end. Between them the tool may say something: no bytes.
    """

    def play(*moments: tuple[float, int | str]) -> None:
        async def run(
            step: Step, reader: Any, list_file: Path, total_bytes: int, *, seen: Any, **_: Any
        ) -> Ran:
            loop = asyncio.get_running_loop()
            began_s, at_s, moved_bytes = loop.time(), 0.0, 0
            for moment_s, what in moments:
                await asyncio.sleep(began_s + moment_s - loop.time())
                if isinstance(what, str):
                    reader.feed(what)
                else:
                    seen(Interval(at_s, moment_s, what - moved_bytes))
                    at_s, moved_bytes = moment_s, what
            return DONE

        monkeypatch.setattr(module, "run_transfer", run)

    return play


def outcome(
    *sizes_bytes: int, meanwhile: Callable[[Client], None] = lambda _: None
) -> tuple[Ran | None, float]:
    """What came of a client for files of these sizes, and after how many seconds."""
    parts = [
        Part(FileEntry(str(number), size, 0), 0, size) for number, size in enumerate(sizes_bytes)
    ]

    async def run() -> tuple[Ran | None, float]:
        client = Client(Batch(tuple(parts)), 1.0, STALL_S, lambda _: None)
        running = asyncio.create_task(client.run(STEP, Silent(), Path("/nowhere/list")))
        await asyncio.sleep(0)
        meanwhile(client)
        ran = await running
        return ran, asyncio.get_running_loop().time()

    return run_skipping(run())


def test_one_may_take_long_to_end_once_everything_is_there(runs: Callable[..., None]) -> None:
    """A store assembles the parts, or a slow disk takes what the server has."""
    runs((1, 50), (2, 100), (500, 100))
    assert outcome(100) == (DONE, 500)
    # What it says meanwhile does not shorten that.
    runs((1, 50), (2, 100), (3, "a line"), (500, 100))
    assert outcome(100) == (DONE, 500)


def test_it_does_not_take_forever(runs: Callable[..., None]) -> None:
    runs((2, 100), (5000, 100))
    assert outcome(100) == (None, 602)


@pytest.mark.parametrize(("total_bytes", "moved_bytes"), [(100, 99), (100, 0), (0, 0)])
def test_before_that_it_stalls_as_ever(
    runs: Callable[..., None], total_bytes: int, moved_bytes: int
) -> None:
    runs((2, moved_bytes), (5000, total_bytes))
    assert outcome(total_bytes) == (None, (2 if moved_bytes else 0) + STALL_S)
    runs((2, moved_bytes), (14, "a line"), (20, total_bytes), (28, total_bytes))
    assert outcome(total_bytes) == (DONE, 28)


def test_what_goes_with_small_files_is_not_taken_for_all_of_them(
    runs: Callable[..., None],
) -> None:
    """The headers and certificates of three are as many bytes as the files."""
    runs((1, 40), (2, "1"), (3, 100), (500, 100))
    assert outcome(50, 40, 10) == (None, 18)
    runs((1, 40), (2, "1"), (3, 100), (4, "2"), (500, 100))
    assert outcome(50, 40, 10) == (DONE, 500)


def test_one_that_is_finishing_is_still_dismissed_at_once(runs: Callable[..., None]) -> None:
    runs((2, 100), (500, 100))

    def dismiss(client: Client) -> None:
        asyncio.get_running_loop().call_later(10, client.dismiss)

    assert outcome(100, meanwhile=dismiss) == (None, 10)


def test_it_has_a_successor_and_not_one_after_the_other(runs: Callable[..., None]) -> None:
    """Else there would be more and more clients than are allowed, which all wait for the end."""
    runs((1, 50), (2, 100), (500, 100))
    seen: dict[int, bool] = {}

    def note(client: Client, at_s: int) -> None:
        seen[at_s] = client.is_ending(0.2)

    def look(client: Client) -> None:
        for at_s in (1, 3, 6, 100):
            asyncio.get_running_loop().call_later(at_s + 0.5, note, client, at_s)

    outcome(100, meanwhile=look)
    assert seen == {1: False, 3: True, 6: False, 100: False}


class Stuck:
    """A tool, never run, for several files."""

    name = "rclone"
    moves_several = True

    def carries(self, _: str) -> str:
        return ""

    def steps(self, _: object) -> list[Step]:
        return [STEP]

    def reader(self) -> Silent:
        return Silent()


def test_each_stall_of_a_batch_doubles_the_time_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(bytes(100))
    lasted_s: list[float] = []

    async def hang(*_: object, **__: object) -> Ran:
        began_s = asyncio.get_running_loop().time()
        try:
            await asyncio.sleep(10**6)
        finally:
            lasted_s.append(asyncio.get_running_loop().time() - began_s)
        return DONE

    monkeypatch.setattr(module, "run_transfer", hang)

    async def move() -> None:
        route = Route(
            tool=Stuck(),  # type: ignore[arg-type]  # All that is looked at.
            path=a_path(),
            places=Places(source=str(tmp_path), target="/b", destination_host="c"),
        )
        group = FileGroup("all", list(listed_files(tmp_path)), 1, 1, whole=True)
        mover = Mover(
            None,  # type: ignore[arg-type]  # Never asked.
            route,
            [group],
            ClientOptions(expected_bps=1e9, longest_piece_s=10.0),
            tell=lambda _: None,
        )
        async with mover:
            with pytest.raises(TransferFailed, match="stalled"):
                await mover.finished()

    run_skipping(move())
    assert lasted_s == pytest.approx([STALL_S, 2 * STALL_S, 4 * STALL_S])
