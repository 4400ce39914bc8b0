"""What an agent does with files: the embedded one, asked as an advisor asks."""

import asyncio
import hashlib
import os
import socket
from pathlib import Path

import psutil
import pytest

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.files import ANYWHERE
from advisor.agent.peer_errors import PeerError
from advisor.agent.service import AgentService
from tests.unit.agent.asking import NAMES, asked, written


def test_a_folder(tmp_path: Path) -> None:
    found = asked(lambda link: link.folder(str(tmp_path)))
    room = os.statvfs(tmp_path)
    assert found.total_bytes == room.f_blocks * room.f_frsize
    assert found.folder == str(tmp_path)
    assert tmp_path.is_relative_to(found.mount_point)


def test_sizes(tmp_path: Path) -> None:
    paths = written(tmp_path, NAMES)
    (tmp_path / "link").symlink_to(paths[0])
    os.mkfifo(tmp_path / "pipe")
    others = [str(tmp_path / n) for n in ("none", "none/below", "a b/below", "pipe")]
    wanted = [*paths, str(tmp_path / "link"), *others, str(tmp_path)]
    assert asked(lambda link: link.sizes(wanted)) == [
        *(len(name.encode()) for name in NAMES),
        3,
        *[None] * 5,
    ]
    assert asked(lambda link: link.sizes([])) == []


def test_more_and_longer_paths_than_a_message_holds(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"12345")
    long = "/".join([str(tmp_path), *["\u0001" * 250] * 8, "none"])
    wanted = [str(tmp_path / "there"), long] * 500
    assert asked(lambda link: link.sizes(wanted)) == [5, None] * 500


@pytest.mark.parametrize("path", ["relative", "", "/a\0b", "/\udcff", "/" + "x" * 4096])
def test_what_is_no_path_is_refused_here(path: str) -> None:
    async def ask(link: AgentLink) -> None:
        for asking in (
            link.folder(path),
            link.sizes([path]),
            link.checksum(path),
            link.make_scratch(path),
            link.move([("/a", path)]),
            link.remove(path),
        ):
            with pytest.raises(PeerError, match="absolute, UTF-8"):
                await asking
        assert await link.sizes(["/none"]) == [None]

    asked(ask)


def test_checksums(tmp_path: Path) -> None:
    paths = written(tmp_path, NAMES)
    (tmp_path / "large").write_bytes(os.urandom(3_000_000))
    paths.append(str(tmp_path / "large"))
    counts: list[int] = []

    async def ask(link: AgentLink) -> None:
        found = await link.checksums([*paths, str(tmp_path), str(tmp_path / "none")], counts.append)
        assert [one.sha256 for one in found[:-2]] == [
            hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths
        ]
        assert [one.reason for one in found[-2:]] == [
            "not a regular file",
            "No such file or directory",
        ]
        assert counts[-1] == sum(Path(path).stat().st_size for path in paths)
        assert await link.checksum(paths[0]) == hashlib.sha256(b"a b").hexdigest()
        with pytest.raises(PeerError, match="No such file"):
            await link.checksum(str(tmp_path / "none"))

    asked(ask)


def test_a_checksum_that_is_cancelled(tmp_path: Path) -> None:
    """The conversation continues, and the agent has let go of the file."""
    sparse = tmp_path / "sparse"
    sparse.touch()
    os.truncate(sparse, 2**43)

    async def ask(link: AgentLink) -> None:
        seen = asyncio.Event()
        reading = asyncio.create_task(link.checksum(str(sparse), lambda _: seen.set()))
        await seen.wait()
        assert str(sparse) in {file.path for file in psutil.Process().open_files()}
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await link.sizes([str(sparse)]) == [2**43]

    asked(ask)
    # Whoever waits for the loop's end waits for its threads.
    assert str(sparse) not in {file.path for file in psutil.Process().open_files()}


def test_files_are_written_back_and_missing_ones_have_nothing_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        written.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    file = tmp_path / "000000"
    file.write_bytes(b"x" * 2**20)
    paths = [str(file), str(tmp_path / "none")]
    elapsed_s = asked(lambda link: link.sync(paths))
    assert written == [str(file)]
    assert 0 <= elapsed_s < 30


def test_only_one_piece_of_work_at_a_time(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse"
    sparse.touch()
    os.truncate(sparse, 2**43)

    async def ask() -> None:
        service = AgentService(files=ANYWHERE)
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        serving = asyncio.create_task(service.serve(*await asyncio.open_connection(sock=theirs)))
        await reader.readline()
        for request in (
            m.Hello(protocol=m.PROTOCOL, version="1"),
            m.GetChecksums(paths=[str(sparse)]),
            m.GetSizes(paths=["/"]),
        ):
            writer.write(m.as_line(request))
        reply = m.read_reply(await reader.readline())
        assert isinstance(reply, m.Refused)
        assert "at work" in reply.message
        # Gone without a word: the agent ends what it does.
        writer.close()
        await serving
        await service.close()

    asyncio.run(ask())
    assert str(sparse) not in {file.path for file in psutil.Process().open_files()}
