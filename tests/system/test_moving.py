"""Whole datasets moved by pieces: a real server and client, and the agent in this process."""

import asyncio
import contextlib
import filecmp
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import psutil
import pytest
import pytest_asyncio

from advisor import registry
from advisor.agent.client import AgentLink
from advisor.agent.connect import reach_embedded
from advisor.api.tool import Step, TransferOrder
from advisor.hosts.datasets import listed_files
from advisor.models.slicing import FileEntry
from advisor.testing.gridftp import anonymous_server
from advisor.testing.samples import a_path
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.client_options import ClientOptions
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.mover import Mover
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.route import Route
from tests.plugins.tools.gridftp_lines import require

MIB = 2**20
PATH = msgspec.structs.replace(a_path(), rtt_s=0.001)
TOOL = registry.transfer_tool("globus-url-copy")


class Hurdled:
    """The tool, with something before each of its runs: a shell's words that the line follows."""

    def __init__(self, hurdle: str, times: int = 10**6) -> None:
        self._hurdle = hurdle
        self._left = times

    def __getattr__(self, name: str) -> object:
        return getattr(TOOL, name)

    def steps(self, order: TransferOrder) -> list[Step]:
        steps = TOOL.steps(order)
        self._left -= 1
        if self._left < 0:
            return steps
        return [
            msgspec.structs.replace(
                step, argv=["sh", "-c", f'{self._hurdle}; exec "$@"', "sh", *step.argv]
            )
            for step in steps
        ]


class Site:
    """Source, server, agent; and the movers between them."""

    def __init__(self, source: Path, url: str, folder: Path, link: AgentLink) -> None:
        self.source = source
        self.url = url
        self.target = folder / "there"
        self.folder = folder
        self.link = link
        self.messages: list[str] = []
        self.server = 0

    def group(self, concurrency: int = 3, parallelism: int = 2) -> FileGroup:
        return FileGroup("all", self.files(), concurrency, parallelism)

    def files(self) -> list[FileEntry]:
        return list(listed_files(self.source))

    def mover(
        self,
        *groups: FileGroup,
        tool: object = TOOL,
        piece_s: float = 0.01,
        target: str = "",
        ends_surplus: bool = False,
    ) -> Mover:
        assert isinstance(tool, Hurdled) or tool is TOOL
        places = Places(
            source=str(self.source),
            target=target or str(self.target),
            destination_host="127.0.0.1",
            server_url=self.url,
        )
        # Hurdled passes on all that it does not have.
        route = Route(tool=tool, path=PATH, places=places)  # type: ignore[arg-type]
        client_options = ClientOptions(
            expected_bps=1e9, piece_s=piece_s, longest_piece_s=piece_s, ends_surplus=ends_surplus
        )
        return Mover(self.link, route, groups, client_options, tell=self.messages.append)

    def is_same(self) -> bool:
        """Whether all of it is there, byte by byte."""
        names = [str(p.relative_to(self.source)) for p in self.source.rglob("*") if p.is_file()]
        _, differing, failed = filecmp.cmpfiles(self.source, self.target, names, shallow=False)
        return bool(names) and not differing and not failed


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    require("globus-gridftp-server", "globus-url-copy")
    source = tmp_path / "run 42"
    source.mkdir()
    async with anonymous_server() as server:
        reached = await reach_embedded()
        one = Site(source, server.url, server.folder, reached.link)
        one.server = _server_process()
        yield one
        await reached.link.close()
    assert not _clients()


def _server_process() -> int:
    for child in psutil.Process().children(recursive=True):
        if child.name() == "globus-gridftp-server":
            return child.pid
    raise AssertionError("no server runs")


def _clients(program: str = "") -> list[psutil.Process]:
    """Processes of ours that are clients, or belong to one; of one `program`, where it is said."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            words = child.cmdline()
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
        if any(word.endswith(".list") for word in words) and words[0].endswith(program):
            found.append(child)
    return found


def _copying() -> list[psutil.Process]:
    return _clients("globus-url-copy")


def _sleeping() -> int:
    """How many clients are at the hurdle."""
    return sum(one.name() == "sleep" for one in psutil.Process().children(recursive=True))


async def _comes_true(condition: Callable[[], bool], timeout_s: float = 30) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.02)


def _write(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(size))


@pytest.mark.asyncio
async def test_a_mixed_dataset_arrives_byte_by_byte(site: Site) -> None:
    for number in range(3000):
        _write(site.source / f"tiny {number % 7}" / f"{number % 3}" / f"it's {number}", 100)
    for number in range(20):
        _write(site.source / "100% ü" / f"{number}", 1000)
        _write(site.source / f"middle {number}.dat", 1_500_000)
    _write(site.source / "large", 60 * MIB + 123)
    _write(site.source / "below" / "another large", 33 * MIB)
    (site.source / "empty").touch()
    (site.source / 'a "quoted" one').write_bytes(b"x")
    group = site.group(concurrency=4)
    async with site.mover(group, piece_s=0.2) as mover:
        await mover.finished()
    set_aside = {trouble.file.name for trouble in group.failed_files}
    assert set_aside == {'a "quoted" one', *(f"100% ü/{number}" for number in range(20))}
    for name in set_aside:
        (site.source / name).unlink()
    assert site.is_same()
    assert not (site.target / "a ").exists()
    assert group.arrived_files == group.total_files - 21
    assert group.moved_bytes == group.arrived_bytes
    assert group.running == 0
    assert len(site.messages) == 1, site.messages


@pytest.mark.asyncio
async def test_a_single_file_and_its_folder(site: Site) -> None:
    source = site.source / "one"
    _write(source, 40 * MIB + 1)
    site.source = source
    group = site.group()
    target = site.target / "sub" / "copy"
    async with site.mover(group, target=str(target)) as mover:
        await mover.finished()
    assert filecmp.cmp(source, target, shallow=False)


@pytest.mark.asyncio
async def test_both_settings_change_while_it_runs(site: Site) -> None:
    for number in range(10):
        _write(site.source / f"{number}", 16 * MIB)
    group = site.group(concurrency=1, parallelism=1)
    async with site.mover(group, tool=Hurdled("sleep 0.3")) as mover:
        await _comes_true(lambda: group.arrived_bytes > 0)
        assert all("1" in _after(one, "-p") for one in _copying())
        group.concurrency, group.parallelism = 4, 3
        await _comes_true(lambda: group.running >= 4)
        await _comes_true(lambda: any("3" in _after(one, "-p") for one in _copying()))
        group.concurrency = 0
        await mover.drain(group)
        assert group.running == 0
        assert not _clients()
        arrived_bytes = group.arrived_bytes
        await asyncio.sleep(0.5)
        assert 0 < group.arrived_bytes == arrived_bytes < group.total_bytes
        assert group.moved_bytes == arrived_bytes, "each client ended its piece"
        group.concurrency = 2
        await mover.finished()
    assert site.is_same()
    assert not site.messages


@pytest.mark.asyncio
async def test_clients_without_a_place_end_at_once_and_nothing_is_lost(site: Site) -> None:
    for number in range(10):
        _write(site.source / f"{number}", 4 * MIB)
    group = site.group(concurrency=3, parallelism=1)
    async with site.mover(group, tool=Hurdled("sleep 600", times=4), ends_surplus=True) as mover:
        await _comes_true(lambda: _sleeping() == 3)
        [first, *_] = sorted(group.clients, key=lambda client: client.began_s)
        group.concurrency = 1
        await _comes_true(lambda: group.clients == {first})
        group.parallelism = 2
        await _comes_true(lambda: len(group.clients) == 1 and first not in group.clients)
        group.concurrency = 3
        await _comes_true(lambda: group.work.left_bytes <= 4 * MIB)
        assert _sleeping() == 1, "more clients: no other one ends"
        group.parallelism = 3
        await mover.finished()
    assert site.is_same()
    assert not site.messages


def _after(process: psutil.Process, flag: str) -> list[str]:
    """The word after a flag of its command line, where it still has one."""
    try:
        words = process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []
    return words[words.index(flag) + 1 :][:1] if flag in words else []


@pytest.mark.asyncio
async def test_batches_are_sized_by_what_is_expected_at_each_concurrency(site: Site) -> None:
    _write(site.source / "large", 100 * MIB)
    group = site.group(concurrency=2)
    group.expected_bps = 2 * 8 * 10.0 * MIB
    tool = Hurdled("sleep 600")
    async with site.mover(group, tool=tool, piece_s=1.0):
        await _comes_true(lambda: _sleeping() == 2)
        assert {client.batch.total_bytes for client in group.clients} == {10 * MIB}
        group.concurrency, group.expected_bps = 3, 3 * 8 * 6.0 * MIB
        await _comes_true(lambda: _sleeping() == 3)
        sizes = [client.batch.total_bytes for client in group.clients]
    assert sorted(sizes) == [6 * MIB, 10 * MIB, 10 * MIB]


@pytest.mark.asyncio
async def test_groups_have_settings_of_their_own(site: Site) -> None:
    for number in range(400):
        _write(site.source / "small" / f"{number}", 2000)
    _write(site.source / "large", 50 * MIB)
    files = site.files()
    small = FileGroup("small", [f for f in files if f.size_bytes == 2000], 0, 1)
    large = FileGroup("large", [f for f in files if f.size_bytes > 2000], 2, 4)
    async with site.mover(small, large, piece_s=0.2) as mover:
        await _comes_true(lambda: large.is_over)
        assert small.arrived_files == 0
        small.concurrency = 3
        await mover.finished()
    assert site.is_same()


@pytest.mark.asyncio
async def test_the_server_goes_away(site: Site) -> None:
    for number in range(10):
        _write(site.source / f"{number}", 20 * MIB)
    group = site.group()
    async with site.mover(group, tool=Hurdled("sleep 0.2")) as mover:
        await _comes_true(lambda: group.arrived_bytes > 0)
        os.kill(site.server, signal.SIGKILL)
        with pytest.raises(TransferFailed, match="Nothing answers at"):
            await mover.finished()
        await _comes_true(lambda: group.running == 0)
    assert not _clients()
    assert group.arrived_bytes < group.total_bytes


@pytest.mark.asyncio
async def test_no_server_at_all(site: Site) -> None:
    _write(site.source / "one", 1000)
    os.kill(site.server, signal.SIGKILL)
    async with site.mover(site.group()) as mover:
        with pytest.raises(TransferFailed, match="Nothing answers at"):
            await mover.finished()


@pytest.mark.asyncio
async def test_a_folder_that_may_not_be_written_is_said_at_once(site: Site) -> None:
    _write(site.source / "one", 1000)
    target = site.folder.parent / "elsewhere" / "there"
    async with site.mover(site.group(), target=str(target)) as mover:
        with pytest.raises(TransferFailed, match="GridFTP server"):
            await mover.finished()
    assert len(site.messages) <= 1


@pytest.mark.asyncio
async def test_cancelled_in_the_middle_no_client_is_left(site: Site) -> None:
    for number in range(10):
        _write(site.source / f"{number}", 20 * MIB)
    group = site.group()

    async def move() -> None:
        async with site.mover(group, tool=Hurdled("sleep 0.2")) as mover:
            await mover.finished()

    task = asyncio.create_task(move())
    await _comes_true(lambda: group.arrived_bytes > 0 and bool(_copying()))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _clients()
    assert await site.link.sizes([str(site.target / "0")]), "the agent can still be asked"


@pytest.mark.asyncio
async def test_a_file_that_changes_is_set_aside_and_the_rest_continues(site: Site) -> None:
    for number in range(50):
        _write(site.source / f"{number}", 20_000)
    _write(site.source / "gone", 20_000)
    _write(site.source / "growing", 40 * MIB)
    group = site.group()
    (site.source / "gone").unlink()
    with (site.source / "growing").open("ab") as growing:
        growing.write(b"more")
    async with site.mover(group) as mover:
        await mover.finished()
    assert {trouble.file.name for trouble in group.failed_files} == {"gone", "growing"}
    assert all("changed or disappeared" in trouble.message for trouble in group.failed_files)
    (site.source / "growing").unlink()
    assert site.is_same()
    assert group.arrived_files == 50


@pytest.mark.asyncio
async def test_a_client_that_is_killed_is_replaced(site: Site) -> None:
    for number in range(6):
        _write(site.source / f"{number}", 16 * MIB)
    group = site.group()
    async with site.mover(group, tool=Hurdled("sleep 0.3")) as mover:
        await _comes_true(lambda: group.arrived_bytes > 0)
        while not (site.messages or group.is_over):
            for one in _clients()[:1]:
                # The leader of the group is the client.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(os.getpgid(one.pid), signal.SIGKILL)
            await asyncio.sleep(0.1)
        await mover.finished()
    assert site.is_same()
    assert any("ended by signal 9" in sentence for sentence in site.messages), site.messages


@pytest.mark.asyncio
async def test_a_client_that_stalls_is_replaced(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.transfer.engine.mover._LEAST_STALL_S", 2.0)
    _write(site.source / "one", 30 * MIB)
    for number in range(30):
        _write(site.source / "small" / f"{number}", 1000)
    group = site.group()
    async with site.mover(group, tool=Hurdled("sleep 600", times=1)) as mover:
        await mover.finished()
    assert site.is_same()
    assert any("stalled" in sentence for sentence in site.messages)


@pytest.mark.asyncio
async def test_what_is_there_already(site: Site) -> None:
    """Whole files replace it; ranges would leave the end of a longer one as it is."""
    site.target.mkdir()
    site.target.chmod(0o777)
    for name, there_bytes in (("small", 50_000), ("longer", 41 * MIB), ("shorter", 7)):
        (site.target / name).write_bytes(b"old" * there_bytes)
        (site.target / name).chmod(0o666)
    _write(site.source / "small", 20_000)
    _write(site.source / "longer", 40 * MIB)
    _write(site.source / "shorter", 40 * MIB)
    group = site.group()
    async with site.mover(group) as mover:
        await mover.finished()
    [trouble] = group.failed_files
    assert trouble.file.name == "longer"
    assert "remove it there" in trouble.message
    assert (site.target / "longer").read_bytes() == b"old" * 41 * MIB, "it is left alone"
    (site.source / "longer").unlink()
    assert site.is_same()


@pytest.mark.asyncio
async def test_files_that_cannot_be_written_do_not_stop_the_rest(site: Site) -> None:
    for number in range(60):
        _write(site.source / "small" / f"{number}", 1000)
    _write(site.source / "large", 40 * MIB)
    for name in ("17", "18"):
        (site.target / "small" / name).mkdir(parents=True)
    for folder in (site.target, site.target / "small"):
        folder.chmod(0o777)
    files = site.files()
    large = FileGroup("large", [file for file in files if file.name == "large"], 2)
    small = FileGroup("small", [file for file in files if file.name != "large"], 0)
    async with site.mover(small, large) as mover:
        await _comes_true(lambda: large.arrived_bytes > 0)
        small.concurrency = 2
        await mover.finished()
    assert {trouble.file.name for trouble in small.failed_files} == {"small/17", "small/18"}
    assert small.arrived_files == 58
    for name in ("17", "18"):
        (site.source / "small" / name).unlink()
    assert site.is_same()


@pytest.mark.asyncio
async def test_nothing_to_move_is_over_at_once(site: Site) -> None:
    group = FileGroup("none", [])
    async with site.mover(group) as mover:
        await mover.finished()
    assert group.is_over


def test_a_tool_for_single_files_is_refused() -> None:
    class Single:
        name = "single"
        moves_several = False

    with pytest.raises(ValueError, match="one file at a time"):
        Mover(
            None,  # type: ignore[arg-type]  # Never asked.
            Route(
                tool=Single(),  # type: ignore[arg-type]  # All that is looked at.
                path=PATH,
                places=Places(source="/a", target="/b", destination_host="c"),
            ),
            [],
            ClientOptions(expected_bps=1e9, longest_piece_s=5.0),
            tell=print,
        )
