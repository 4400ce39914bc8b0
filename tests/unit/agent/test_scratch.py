"""An agent makes scratch folders, puts their files in place, and removes them."""

import asyncio
import contextlib
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from advisor.agent import files
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, Refusal
from advisor.domain.file_io import SCRATCH_PREFIX
from advisor.hosts.scratch import MARK
from tests.scratch import marked
from tests.unit.agent.asking import NAMES, asked, written
from tests.unit.agent.linked import linked


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


class _SlowMaking:
    """A file system on which a folder is made only when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.goes_on, self.ended = (threading.Event() for _ in range(3))
        self._real = files.make_scratch
        monkeypatch.setattr(files, "make_scratch", self._make)

    def _make(self, *given: Any) -> str:
        self.begun.set()
        assert self.goes_on.wait(20)
        try:
            return self._real(*given)
        finally:
            self.ended.set()

    async def asked_for(self, link: AgentLink, folder: Path) -> "asyncio.Task[str]":
        """A request whose thread is in the middle of it."""
        asking = asyncio.create_task(link.make_scratch(str(folder)))
        await asyncio.to_thread(self.begun.wait, 20)
        return asking


def _wait_until_empty(folder: Path) -> None:
    deadline_s = time.monotonic() + 20
    while list(folder.iterdir()):
        assert time.monotonic() < deadline_s, "a folder is left"
        time.sleep(0.01)


def test_one_that_is_made_after_the_advisor_gave_up_is_removed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply that would have named it is not sent any more."""
    making = _SlowMaking(monkeypatch)

    async def given_up(link: AgentLink) -> None:
        asking = await making.asked_for(link, tmp_path)
        asking.cancel()
        await asyncio.wait([asking])
        making.goes_on.set()
        await asyncio.to_thread(making.ended.wait, 20)
        assert await link.sizes([str(tmp_path / "x")]) == [None], "the conversation goes on"

    asked(given_up)
    _wait_until_empty(tmp_path)


@pytest.mark.parametrize("is_cut", [True, False])
def test_one_that_is_made_after_the_conversation_has_ended_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_cut: bool
) -> None:
    making = _SlowMaking(monkeypatch)

    async def left(link: AgentLink) -> None:
        asking = await making.asked_for(link, tmp_path)
        if is_cut:
            link._writer.transport.abort()
        else:
            asking.cancel()
        await asyncio.wait([asking])

    async def run() -> None:
        async with linked() as link:
            await left(link)
        making.goes_on.set()
        await asyncio.to_thread(making.ended.wait, 20)

    asyncio.run(run())
    _wait_until_empty(tmp_path)


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
