"""With a real fio, on small files: what is asserted is what was done, never how fast."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.domain.file_io import SCRATCH_PREFIX, FileIoJob, FileIoResult, IoDirection
from advisor.hosts import file_io
from advisor.hosts.file_io import FileIoError, file_io_workplace, fio_available, run_file_io
from advisor.hosts.filesystems import filesystem_of
from advisor.hosts.scratch import MARK
from advisor.models.file_io import most_bytes
from advisor.models.filesystems import takes_direct_io
from tests.scratch import marked

MIB = 2**20
NOBODY = 65534
needs_fio = pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")


def job(**fields: Any) -> FileIoJob:
    plain: dict[str, Any] = {
        "direction": "write",
        "threads": 2,
        "request_bytes": MIB,
        "direct": False,
        "total_bytes": 8 * MIB,
        "ceiling_s": 20,
    }
    return FileIoJob(**(plain | fields))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if not most_bytes(filesystem_of(tmp_path)):
        pytest.skip("the file system of the temporary folder is too full")
    return tmp_path


@needs_fio
@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.asyncio
async def test_all_of_it_is_moved_once(folder: Path, direction: IoDirection, threads: int) -> None:
    total_bytes = threads * 4 * MIB
    result = await run_file_io(
        str(folder), job(direction=direction, threads=threads, total_bytes=total_bytes)
    )
    assert result.moved_bytes == total_bytes
    assert result.elapsed_s > 0
    assert result.throughput_bps == pytest.approx(total_bytes * 8 / result.elapsed_s)
    assert result.cpu_cores >= 0
    assert result.program.startswith("fio-")
    assert list(folder.iterdir()) == []


@needs_fio
@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.asyncio
async def test_direct(folder: Path, direction: IoDirection) -> None:
    if not takes_direct_io(filesystem_of(folder)):
        pytest.skip("no direct I/O on the file system of the temporary folder")
    result = await run_file_io(str(folder), job(direction=direction, direct=True))
    assert result.moved_bytes == 8 * MIB


@needs_fio
@pytest.mark.asyncio
async def test_direct_with_odd_requests_is_refused_in_a_sentence(folder: Path) -> None:
    if not takes_direct_io(filesystem_of(folder)):
        pytest.skip("no direct I/O on the file system of the temporary folder")
    with pytest.raises(
        FileIoError, match=r"does not support direct I/O with requests of .*: measure it"
    ):
        await run_file_io(str(folder), job(direct=True, request_bytes=1000))
    assert list(folder.iterdir()) == []


@needs_fio
@pytest.mark.asyncio
async def test_one_lay_out_serves_all_that_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real = file_io.Workplace._measure

    async def measure(self: file_io.Workplace, one: FileIoJob, total_bytes: int) -> FileIoResult:
        done.append(one.direction)
        return await real(self, one, total_bytes)

    monkeypatch.setattr(file_io.Workplace, "_measure", measure)
    async with file_io_workplace(str(folder), 8 * MIB) as workplace:
        for direction in ("read", "read", "write", "read"):
            result = await workplace.run(job(direction=direction))
            assert result.moved_bytes == 8 * MIB
    assert done == ["write", "read", "read", "write", "write", "read"]


@needs_fio
@pytest.mark.asyncio
async def test_our_place_is_striped_before_its_file_is_created(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a program in place of lfs: it notes its arguments and what is in the folder."""
    programs, noted = folder / "programs", folder / "noted"
    programs.mkdir()
    script = f"#!/bin/sh\nfor last; do :; done\necho \"$1 $2 $3 $(ls $last)\" >> '{noted}'\n"
    (programs / "lfs").write_text(script)
    (programs / "lfs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    laid_out: list[int] = []
    real = file_io.Workplace._lay_out

    async def lay_out(self: file_io.Workplace, ceiling_s: float) -> None:
        before = self._laid_out_bytes
        await real(self, ceiling_s)
        laid_out.append(self._laid_out_bytes - before)

    monkeypatch.setattr(file_io.Workplace, "_lay_out", lay_out)
    async with file_io_workplace(str(folder), 8 * MIB) as workplace:
        for stripes in (0, 2, 2, 8):
            result = await workplace.run(job(direction="read", stripes=stripes))
            assert result.moved_bytes == 8 * MIB
    assert [line.split() for line in noted.read_text().splitlines()] == [
        ["setstripe", "-c", "2", "data"],
        ["setstripe", "-c", "8", "data"],
    ]
    assert laid_out == [8 * MIB, 8 * MIB, 0, 8 * MIB], "it is created again for each layout"


@needs_fio
@pytest.mark.asyncio
async def test_never_more_than_was_said_is_on_the_disk(folder: Path) -> None:
    async with file_io_workplace(str(folder), 8 * MIB) as workplace:
        await workplace.run(job(total_bytes=2**40))
        sizes = [p.stat().st_size for p in folder.rglob("*") if p.is_file() and p.name != MARK]
        assert sizes == [8 * MIB]
        (place,) = folder.iterdir()
        assert place.name.startswith(SCRATCH_PREFIX)
        assert place.stat().st_mode & 0o777 == 0o700


@needs_fio
@pytest.mark.asyncio
async def test_names_that_fio_would_take_for_its_own(folder: Path) -> None:
    odd = folder / "a:b $jobname\\ 'quoted'\n%s ü"
    odd.mkdir()
    assert (await run_file_io(str(odd), job(direction="read"))).moved_bytes == 8 * MIB
    assert list(odd.iterdir()) == []
    assert list(folder.iterdir()) == [odd]


@needs_fio
@pytest.mark.asyncio
async def test_files_of_the_user_are_left_alone(folder: Path) -> None:
    mine = folder / f"{SCRATCH_PREFIX}mine"
    mine.write_text("mine")
    os.utime(mine, (0, 0))
    await run_file_io(str(folder), job())
    assert [p.read_text() for p in folder.iterdir()] == ["mine"]


@needs_fio
@pytest.mark.asyncio
async def test_what_a_crash_left_is_removed_when_it_is_old(folder: Path) -> None:
    old, young = folder / f"{SCRATCH_PREFIX}io-old", folder / f"{SCRATCH_PREFIX}io-young"
    for place in (old, young):
        marked(place)
        (place / "data").write_bytes(bytes(1000))
    os.utime(old, (time.time() - 7200,) * 2)
    await run_file_io(str(folder), job())
    assert list(folder.iterdir()) == [young]


@needs_fio
@pytest.mark.asyncio
async def test_too_little_for_the_threads(folder: Path) -> None:
    with pytest.raises(FileIoError, match="too little for 16 threads with requests of 1 MiB"):
        await run_file_io(str(folder), job(threads=16))
    assert list(folder.iterdir()) == []


@needs_fio
@pytest.mark.asyncio
async def test_cancelled_it_leaves_nothing(folder: Path) -> None:
    # Slow enough to be met at work: without a ceiling to speak of, with the smallest requests.
    total_bytes = most_bytes(filesystem_of(folder))
    slow = job(request_bytes=512, total_bytes=total_bytes, ceiling_s=600)
    task = asyncio.create_task(run_file_io(str(folder), slow))
    while not list(folder.glob("*/data")):
        await asyncio.sleep(0.01)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(folder.iterdir()) == []
    assert fios_in(folder) == []


def fios_in(folder: Path) -> list[int]:
    """Process ids of what works below the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if (entry / "cwd").readlink().is_relative_to(folder):
                    found.append(int(entry.name))
    return found


KILLED = """
import asyncio, sys
from advisor.domain.file_io import FileIoJob
from advisor.hosts.file_io import run_file_io
asyncio.run(run_file_io(sys.argv[1], FileIoJob(direction="write", threads=2, request_bytes=512,
    direct=False, total_bytes=int(sys.argv[2]), ceiling_s=600)))
"""


@needs_fio
def test_killed_it_leaves_nothing_either(folder: Path) -> None:
    size = str(most_bytes(filesystem_of(folder)))
    with subprocess.Popen([sys.executable, "-c", KILLED, str(folder), size]) as process:
        wait_until(lambda: bool(list(folder.glob("*/data"))) and bool(fios_in(folder)))
        assert process.poll() is None
        process.kill()
    wait_until(lambda: fios_in(folder) == [] and list(folder.iterdir()) == [])


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.asyncio
async def test_without_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fio_available().remedy == "apt-get install fio"
    with pytest.raises(FileIoError, match="fio is not installed here: apt-get install fio"):
        await run_file_io(str(tmp_path), job())


@needs_fio
@pytest.mark.asyncio
async def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("nosuch", "file"):
        with pytest.raises(FileIoError, match=f"{name} is not a folder: name one"):
            await run_file_io(str(tmp_path / name), job())


@pytest.fixture
def locked() -> Iterator[Path]:
    """A folder that anyone may enter and nobody but its owner write in, seen by somebody else."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(NOBODY)
        yield Path(name)
        os.seteuid(os.getuid())
        Path(name).chmod(0o700)


@needs_fio
@pytest.mark.asyncio
async def test_permission_denied(locked: Path) -> None:
    if not most_bytes(filesystem_of(locked)):
        pytest.skip("the file system of the temporary folder is too full")
    with pytest.raises(FileIoError, match=r"you may not write in .*: name a folder of yours"):
        await run_file_io(str(locked), job())


@needs_fio
@pytest.mark.asyncio
async def test_a_file_system_without_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_io, "most_bytes", lambda _: 0)
    with pytest.raises(FileIoError, match="too little to measure with 5 % of it: free some"):
        await run_file_io(str(folder), job())
    assert list(folder.iterdir()) == []


@needs_fio
def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    """On a file system so small that the share of the free space is not asked for."""
    script = f"""
mount -t tmpfs -o size=8m none {tmp_path} || exit 77
{sys.executable} - {tmp_path} <<'END'
import asyncio, sys
from pathlib import Path
from advisor.domain.file_io import FileIoJob
from advisor.hosts import file_io
file_io.most_bytes = lambda _: 2**30
for direction in ("read", "write"):
    job = FileIoJob(direction=direction, threads=2, request_bytes=2**20, direct=False,
                    total_bytes=64 * 2**20, ceiling_s=20)
    try:
        asyncio.run(file_io.run_file_io(sys.argv[1], job))
        sys.exit("there was room")
    except file_io.FileIoError as error:
        assert str(error) == f"{{sys.argv[1]}} is full: free some space, or name another folder"
    assert list(Path(sys.argv[1]).iterdir()) == []
END
"""
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    done = subprocess.run(
        ["unshare", *own, "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
