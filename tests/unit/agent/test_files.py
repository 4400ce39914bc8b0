"""What an agent does with files: the embedded one, asked as an advisor asks."""

import asyncio
import contextlib
import hashlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from advisor.agent import files
from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.files import ANYWHERE, NOWHERE, FileRights
from advisor.agent.peer_errors import PeerError, Refusal
from advisor.agent.scratch import MARK
from advisor.agent.service import AgentService
from advisor.domain.file_io import SCRATCH_PREFIX, FileIoJob
from advisor.hosts.file_io import fio_available
from tests.scratch import marked

from .linked import linked

T = TypeVar("T")
NAMES = ["a b", "it's", 'a"b', "a\nb", "Ünïcödé", "-rf", "*", "a\\b"]


def asked(ask: Callable[[AgentLink], Awaitable[T]], rights: FileRights = ANYWHERE) -> T:
    async def run() -> T:
        async with linked(rights) as link:
            return await ask(link)

    return asyncio.run(run())


def written(folder: Path, names: list[str]) -> list[str]:
    """Paths of new files, each with its name as its content."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name)
    return [str(folder / name) for name in names]


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
    """The conversation goes on, and the agent has let go of the file."""
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


def test_a_scratch_folder(tmp_path: Path) -> None:
    async def made(link: AgentLink) -> None:
        folder = Path(await link.make_scratch(str(tmp_path)))
        assert folder.parent == tmp_path
        assert folder.name.startswith(SCRATCH_PREFIX)
        assert folder.stat().st_mode & 0o7777 == 0o700
        assert str(folder) != await link.make_scratch(str(tmp_path))

    asked(made)


def test_what_an_advisor_leaves_of_its_scratch_folders_is_removed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    async def left(link: AgentLink) -> None:
        folder = Path(await link.make_scratch(str(tmp_path)))
        (folder / "below").mkdir()
        (folder / "below" / "000000").write_bytes(b"x")
        other = Path(await link.make_scratch(str(tmp_path)))
        (other / "000000").write_bytes(b"kept")
        assert await link.move([(str(other / "000000"), str(kept))]) == [""]

    asked(left)
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    assert kept.read_bytes() == b"kept"


def test_a_server_may_write_there_for_another_while(tmp_path: Path) -> None:
    ends_s = time.monotonic() + 4

    def write_on(folder: Path) -> None:
        while time.monotonic() < ends_s:
            with contextlib.suppress(OSError):
                (folder / "deep").mkdir(exist_ok=True)
                (folder / "deep" / str(time.monotonic())).touch()

    async def left(link: AgentLink) -> threading.Thread:
        folder = Path(await link.make_scratch(str(tmp_path)))
        writing = threading.Thread(target=write_on, args=(folder,))
        writing.start()
        return writing

    asked(left).join()
    assert not list(tmp_path.iterdir())


def fake_lfs(folder: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> Path:
    """A program of that name, first on PATH, that notes its arguments."""
    programs, noted = folder / "programs", folder / "noted"
    programs.mkdir()
    (programs / "lfs").write_text(f"#!/bin/sh\necho \"$*\" >> '{noted}'\nexit {status}\n")
    (programs / "lfs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return noted


def test_only_the_scratch_folder_is_striped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = fake_lfs(tmp_path, monkeypatch, 0)
    target = tmp_path / "there"
    target.mkdir()
    asked(lambda link: link.make_scratch(str(target)))
    assert not noted.exists()
    made = asked(lambda link: link.make_scratch(str(target), 0, 8))
    assert noted.read_text() == f"setstripe -c 8 {made}\n"


def test_a_scratch_folder_that_cannot_be_striped_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_lfs(tmp_path, monkeypatch, 22)
    target = tmp_path / "there"
    target.mkdir()
    with pytest.raises(Refusal, match="lfs setstripe -c 8 failed with status 22"):
        asked(lambda link: link.make_scratch(str(target), 0, 8))
    assert not list(target.iterdir())


def test_a_scratch_folder_makes_no_other(tmp_path: Path) -> None:
    async def made(link: AgentLink) -> None:
        folder = Path(await link.make_scratch(str(tmp_path / "run42" / "part")))
        assert folder.parent == tmp_path
        assert list(tmp_path.iterdir()) == [folder]

    asked(made)


def test_a_scratch_folder_where_none_may_be() -> None:
    with pytest.raises(PeerError, match=r"/proc/\d+ on the agent's side: "):
        asked(lambda link: link.make_scratch("/proc/self/none"))


@pytest.fixture(params=["renameat2", "hard links"])
def way_to_move(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As file systems that cannot rename without overwriting: NFS."""
    if request.param == "hard links":

        class Old:
            @staticmethod
            def renameat2(*_: object) -> int:
                files.ctypes.set_errno(files.errno.EINVAL)
                return -1

        monkeypatch.setattr(files, "_libc", Old)


@pytest.mark.usefixtures("way_to_move")
def test_files_are_put_at_their_places(tmp_path: Path) -> None:
    scratch = marked(tmp_path / f"{SCRATCH_PREFIX}1")
    paths = written(scratch, NAMES)
    pairs = [(path, str(tmp_path / "run42" / "part" / Path(path).name)) for path in paths]
    assert asked(lambda link: link.move(pairs)) == [""] * len(NAMES)
    assert [Path(target).read_text() for _, target in pairs] == NAMES
    assert [path.name for path in scratch.iterdir()] == [MARK]


@pytest.mark.usefixtures("way_to_move")
def test_nothing_is_overwritten(tmp_path: Path) -> None:
    one, other, third = written(marked(tmp_path / f"{SCRATCH_PREFIX}1"), ["one", "other", "third"])
    taken, link_, free = tmp_path / "taken", tmp_path / "link", tmp_path / "free"
    taken.write_text("the user's")
    link_.symlink_to(tmp_path / "nowhere")
    pairs = [(one, str(taken)), (other, str(link_)), (third, str(free)), (third, str(free))]
    exists, gone = "File exists", "No such file or directory"
    assert asked(lambda link: link.move(pairs)) == [exists, exists, "", gone]
    assert taken.read_text() == "the user's"
    assert not (tmp_path / "nowhere").exists()
    assert Path(one).read_text() == "one"
    assert Path(other).read_text() == "other"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_account_stays(tmp_path: Path) -> None:
    (path,) = written(marked(tmp_path / f"{SCRATCH_PREFIX}1"), ["theirs"])
    os.chown(path, 65534, 65534)
    (reason,) = asked(lambda link: link.move([(path, str(tmp_path / "below" / "target"))]))
    assert "another account" in reason
    assert not (tmp_path / "below").exists()


def test_only_files_of_a_scratch_folder_are_moved(tmp_path: Path) -> None:
    (private,) = written(tmp_path / "private", ["keys"])
    scratch = marked(tmp_path / f"{SCRATCH_PREFIX}1")
    (scratch / "folder").mkdir(parents=True)
    (scratch / "link").symlink_to(private)
    (scratch / "way").symlink_to(tmp_path / "private")
    target = str(tmp_path / "target")

    async def ask(link: AgentLink) -> None:
        for source in (private, str(scratch / "way" / "keys"), str(scratch)):
            with pytest.raises(PeerError, match="not in one of the advisor's own folders"):
                await link.move([(source, target)])
        sources = [str(scratch / name) for name in ("link", "folder", "none")]
        assert await link.move([(source, target) for source in sources]) == [
            *["not a regular file"] * 2,
            "No such file or directory",
        ]

    asked(ask)
    assert Path(private).exists()
    assert not Path(target).exists()


def test_a_scratch_folder_is_removed_and_links_in_it_are_not_followed(tmp_path: Path) -> None:
    (kept,) = written(tmp_path / "private", ["keys"])
    scratch = marked(tmp_path / f"{SCRATCH_PREFIX}1")
    written(scratch, NAMES)
    (scratch / "link").symlink_to(kept)
    (scratch / "way").symlink_to(tmp_path / "private")
    asked(lambda link: link.remove(str(scratch)))
    assert not scratch.exists()
    assert Path(kept).exists()
    asked(lambda link: link.remove(str(scratch)))


def test_nothing_else_is_removed(tmp_path: Path) -> None:
    (kept,) = written(tmp_path / "private", ["keys"])
    scratch = marked(tmp_path / f"{SCRATCH_PREFIX}1")
    (scratch / "below").mkdir(parents=True)
    link_ = tmp_path / f"{SCRATCH_PREFIX}2"
    link_.symlink_to(tmp_path / "private")

    async def ask(link: AgentLink) -> None:
        for path in (tmp_path / "private", scratch / "below", f"{scratch}/..", f"{scratch}/.", "/"):
            with pytest.raises(
                PeerError, match=r"not one of the advisor's own folders|does not name a file"
            ):
                await link.remove(str(path))
        with pytest.raises(PeerError, match=rf"{SCRATCH_PREFIX}2 on the agent's side: Not a"):
            await link.remove(str(link_))

    asked(ask)
    assert Path(kept).exists()
    assert (scratch / "below").is_dir()


def test_what_stays_of_a_scratch_folder_is_reported(tmp_path: Path) -> None:
    scratch = marked(tmp_path / f"{SCRATCH_PREFIX}1")
    for folder in ("mine", "theirs"):
        written_in = scratch / folder
        written_in.mkdir(parents=True)
        (written_in / "data").touch()
    # A busy folder cannot be removed by anyone, root included.
    mount = ["mount", "--bind", scratch / "theirs", scratch / "theirs"]
    mounted = os.geteuid() == 0 and not subprocess.run(mount, check=False).returncode
    if not mounted:
        (scratch / "theirs").chmod(0o555)
    try:
        with pytest.raises(PeerError, match=rf"{scratch} could not be removed completely \("):
            asked(lambda link: link.remove(str(scratch)))
    finally:
        if mounted:
            subprocess.run(["umount", scratch / "theirs"], check=True)
        (scratch / "theirs").chmod(0o755)
    assert not (scratch / "mine").exists()


REQUESTS: list[Callable[[AgentLink, str], Awaitable[object]]] = [
    lambda link, path: link.folder(path),
    lambda link, path: link.file_io(path, a_job()),
    lambda link, path: link.sizes([path]),
    lambda link, path: link.checksum(path),
    lambda link, path: link.make_scratch(path),
    lambda link, path: link.move([(path, path + "1")]),
    lambda link, path: link.remove(path),
]


def a_job(ceiling_s: float = 1.0) -> FileIoJob:
    return FileIoJob(
        direction="write",
        threads=1,
        request_bytes=65536,
        direct=False,
        total_bytes=2**20,
        ceiling_s=ceiling_s,
    )


@pytest.mark.parametrize("request_", REQUESTS)
def test_an_agent_that_was_given_no_files(
    tmp_path: Path, request_: Callable[[AgentLink, str], Awaitable[object]]
) -> None:
    inside = tmp_path / f"{SCRATCH_PREFIX}1"
    inside.mkdir()
    with pytest.raises(Refusal, match="start it with --files FOLDER"):
        asked(lambda link: request_(link, str(inside)), NOWHERE)
    assert inside.is_dir()


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("way", ["{outside}", "{given}/../private/{own}", "{given}/way/{own}"])
def test_out_of_the_folders_that_were_given_no_way_leads(
    tmp_path: Path, request_: Callable[[AgentLink, str], Awaitable[object]], way: str
) -> None:
    own = f"{SCRATCH_PREFIX}1"
    given, outside = tmp_path / "given", tmp_path / "private" / own
    given.mkdir()
    outside.mkdir(parents=True)
    (given / "way").symlink_to(outside.parent)
    path = way.format(given=given, outside=outside, own=own)
    with pytest.raises(Refusal, match="given to the agent with --files"):
        asked(lambda link: request_(link, path), FileRights([given]))
    assert list(outside.iterdir()) == []


def test_a_folder_whose_name_only_begins_like_the_given_one(tmp_path: Path) -> None:
    (other,) = written(tmp_path / "given2", ["data"])
    with pytest.raises(Refusal, match="--files"):
        asked(lambda link: link.sizes([other]), FileRights([tmp_path / "given"]))


def test_inside_of_the_folders_that_were_given(tmp_path: Path) -> None:
    """One of them is reached by a link, and one is made after the agent was started."""
    real, later = tmp_path / "real", tmp_path / "later"
    (file,) = written(real, ["data"])
    (tmp_path / "given").symlink_to(real)

    async def ask(link: AgentLink) -> None:
        assert await link.sizes([file, str(tmp_path / "given" / "data")]) == [4, 4]
        with pytest.raises(Refusal, match="--files"):
            await link.make_scratch(str(later))
        later.mkdir()
        scratch = await link.make_scratch(str(later / "run42"))
        written(Path(scratch), ["new"])
        assert await link.move([(f"{scratch}/new", str(later / "run42" / "new"))]) == [""]
        await link.remove(scratch)

    asked(ask, FileRights([tmp_path / "given", later]))
    assert [path.name for path in later.iterdir()] == ["run42"]
    assert (later / "run42" / "new").read_text() == "new"


def fio_runs() -> bool:
    return any(child.name() == "fio" for child in psutil.Process().children(recursive=True))


@pytest.mark.skipif(not fio_available().ok, reason="fio is not installed here")
def test_file_io(tmp_path: Path) -> None:
    result = asked(lambda link: link.file_io(str(tmp_path), a_job()))
    assert result.moved_bytes == 2**20
    assert list(tmp_path.iterdir()) == []


def test_file_io_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"\w+"):
        asked(lambda link: link.file_io(str(tmp_path / "none"), a_job()))


@pytest.mark.skipif(not fio_available().ok, reason="fio is not installed here")
@pytest.mark.parametrize("way", ["cancelled", "the connection lost"])
def test_file_io_ends_with_whoever_wanted_it(tmp_path: Path, way: str) -> None:
    long = FileIoJob(
        direction="write",
        threads=1,
        request_bytes=512,
        direct=False,
        total_bytes=2**50,
        ceiling_s=600,
    )

    async def ask(link: AgentLink) -> None:
        measuring = asyncio.create_task(link.file_io(str(tmp_path), long))
        while not fio_runs():
            assert not measuring.done()
            await asyncio.sleep(0.02)
        if way == "the connection lost":
            await link.close()
        measuring.cancel()
        with contextlib.suppress(asyncio.CancelledError, PeerError):
            await measuring
        assert not fio_runs()

    asked(ask)
    assert list(tmp_path.iterdir()) == []


def test_a_scratch_folder_is_removed_though_a_server_still_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = os.rmdir
    late = iter(range(3))

    def rmdir(name: str, *, dir_fd: int) -> None:
        if (number := next(late, None)) is not None:
            (tmp_path / name / f"late {number}").touch()
        removed(name, dir_fd=dir_fd)

    async def ask(link: AgentLink) -> None:
        folder = await link.make_scratch(str(tmp_path))
        (Path(folder) / "000000").touch()
        monkeypatch.setattr(os, "rmdir", rmdir)
        await link.remove(folder)

    asked(ask)
    assert not list(tmp_path.iterdir())
