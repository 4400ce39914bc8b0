"""What `advisor file-io` says and how it ends; fio itself is asked in tests/system."""

import contextlib
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor.agent.peer_errors import Refusal
from advisor.cli import file_io as module
from advisor.cli.errors import UsageError
from advisor.cli.file_io import file_io
from advisor.cli.main import main
from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem, Stripes
from advisor.hosts.file_io import FileIoError
from advisor.report.file_io import Report
from advisor.store.file_io_profiles import file_io_pair
from advisor.store.layout import pair_directory

# Its results are kept in the user's history.
pytestmark = pytest.mark.usefixtures("own_home")

GIB = 2**30


class Disk:
    """Stands for fio: gives each job a throughput of `rate` × threads, or refuses it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
        self.refused: dict[bool, str] = {}
        self.jobs: list[FileIoJob] = []
        self.found = msgspec.structs.replace(
            Filesystem(
                folder="/data",
                kind="xfs",
                device="/dev/sdb",
                mount_point="/data",
                total_bytes=2**41,
                free_bytes=2**40,
                writable=True,
            ),
            **fields,
        )
        monkeypatch.setattr(module, "filesystem_of", lambda _: self.found)
        monkeypatch.setattr(module, "file_io_workplace", self.workplace)

    @contextlib.asynccontextmanager
    async def workplace(self, folder: str, total_bytes: int) -> AsyncIterator["Disk"]:
        assert (folder, total_bytes) == ("/data", 4 * GIB)
        yield self

    async def run(self, job: FileIoJob) -> FileIoResult:
        self.jobs.append(job)
        if job.direct in self.refused:
            raise FileIoError(self.refused[job.direct])
        moved_bytes = job.threads * 10**8 + job.direct
        return FileIoResult(moved_bytes=moved_bytes, elapsed_s=1, cpu_cores=1, program="fio-3.33")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def run(*arguments: str) -> int:
    status = file_io.main(list(arguments), standalone_mode=False)
    assert isinstance(status, int)
    return status


def test_the_whole_grid_as_a_table(disk: Disk, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("/data") == 0
    out, err = capsys.readouterr()
    assert len(disk.jobs) == 60
    assert out.count("12.8 Gbit/s *") == 2
    assert "* best: write, 16 threads, 64 KiB requests, direct: 12.8 Gbit/s" in out
    rows = [line.split() for line in out.splitlines() if line.startswith(("direct", "buffered"))]
    assert {(row[0], row[1]) for row in rows} == {
        (mode, str(threads)) for mode in ("direct", "buffered") for threads in (1, 2, 4, 8, 16)
    }
    assert "XFS" in out
    assert "at most 4 GiB (0.39 % of the free space) below /data, and removes it" in err
    assert "60 measurements of at most 2 s each" in err


def test_on_lustre_both_stripe_counts_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = Disk(monkeypatch, kind="lustre", stripes=Stripes(count=1, size_bytes=2**20))
    real = disk.run

    async def run_striped(job: FileIoJob) -> FileIoResult:
        found = await real(job)
        return msgspec.structs.replace(found, moved_bytes=found.moved_bytes * (2 + job.stripes))

    monkeypatch.setattr(disk, "run", run_striped)
    assert run("/data", "--write", "--quick") == 0
    out, _ = capsys.readouterr()
    assert [job.stripes for job in disk.jobs] == [0, 0, 0, 2, 2, 2, 8, 8, 8]
    assert "* best: write, 16 threads, 4 MiB requests, direct, 8 stripes" in out
    assert "which was not done: mkdir -p /data && lfs setstripe -c 8 /data" in out


@pytest.mark.parametrize("direction", ["read", "write"])
def test_one_direction_quickly(
    direction: str, disk: Disk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("/data", f"--{direction}", "--quick") == 0
    assert {job.direction for job in disk.jobs} == {direction}
    assert len(disk.jobs) == 3
    assert "3 measurements" in capsys.readouterr().err


def test_json_is_one_object(disk: Disk, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("/data", "--quick", "--json") == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    report = msgspec.json.decode(out, type=Report)
    assert report.filesystem == disk.found
    assert [p.direction for p in report.profiles] == ["read", "write"]
    best = report.profiles[0].best
    assert best is not None
    assert best.job.threads == 16
    assert best.throughput_bps == pytest.approx(12.8e9)


def test_where_direct_is_refused_it_is_buffered(
    disk: Disk, capsys: pytest.CaptureFixture[str]
) -> None:
    disk.refused = {True: "no direct I/O"}
    assert run("/data", "--write") == 0
    assert [job.direct for job in disk.jobs] == [True] + [False] * 15
    out = capsys.readouterr().out
    assert out.count("not measured: no direct I/O") == 1
    assert "buffered" in out


def test_where_nothing_can_be_measured(disk: Disk, capsys: pytest.CaptureFixture[str]) -> None:
    disk.refused = {True: "/data is full", False: "/data is full"}
    assert run("/data", "--write") == 1
    assert len(disk.jobs) == 2
    assert capsys.readouterr().out.count("not measured: /data is full") == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"writable": False}, "/data on .* is not writable"),
        ({"free_bytes": GIB}, "/data on .* has 1 GiB free, too little"),
    ],
)
def test_refused_before_anything_is_written(
    fields: dict[str, Any],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    disk = Disk(monkeypatch, **fields)
    assert run("/data") == 1
    assert disk.jobs == []
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(said, err)


def test_nothing_is_measured_that_could_not_be_kept(
    disk: Disk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Not a folder that may not be written: that does not stop root.
    pair_directory(tmp_path, file_io_pair(module._Here.name)).touch()
    with pytest.raises(SystemExit) as ended:
        main(["file-io", "/data", "--quick", "--store", str(tmp_path)])
    assert ended.value.code == 1
    assert disk.jobs == []
    assert re.search("^advisor: cannot write .*: fix that or name", capsys.readouterr().err, re.M)


def test_a_folder_that_is_not_there(disk: Disk) -> None:
    with pytest.raises(UsageError, match=r"/data/nosuch on .* is not a folder: name one"):
        run("/data/nosuch")
    assert disk.jobs == []


class Link:
    """Stands for an agent that measures on a disk."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.closed = 0

    async def folder(self, path: str) -> Filesystem:
        if path != "/data":
            raise Refusal(f"{path} is in none of the folders given to the agent")
        return self.disk.found

    async def file_io(self, folder: str, job: FileIoJob) -> FileIoResult:
        assert folder == "/data"
        try:
            return await self.disk.run(job)
        except FileIoError as error:
            raise Refusal(str(error)) from None

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def link(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Link:
    from advisor.agent.connect import Reached
    from advisor.runtime import connect as reaching

    link = Link(disk)
    stand_in: Any = link

    async def reach(request: Any, tell: object) -> Reached:
        assert str(request.destination) == "dtn02"
        return Reached(stand_in, "192.0.2.1", ())

    monkeypatch.setattr(reaching, "reach", reach)
    return link


def test_at_the_destination(link: Link, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("/data", "--quick", "--write", "--json", "--at", "dtn02") == 0
    out, err = capsys.readouterr()
    assert msgspec.json.decode(out, type=Report).host == "dtn02"
    assert "/data on dtn02" in err
    assert len(link.disk.jobs) == 3
    assert link.closed == 2


def test_what_the_destination_refuses_is_reported(
    link: Link, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("/home", "--at", "dtn02") == 1
    assert "in none of the folders given to the agent" in capsys.readouterr().err
    link.disk.refused = {True: "no direct I/O"}
    assert run("/data", "--write", "--at", "dtn02") == 0
    assert "not measured: no direct I/O" in capsys.readouterr().out


def test_an_agent_that_cannot_be_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("no secret")
    options = ["--agent", "127.0.0.1:1", "--secret-file", str(secret)]
    assert run("/data", *options) == 2
    assert "--secret-file" in capsys.readouterr().err


def test_an_agent_without_a_secret() -> None:
    with pytest.raises(UsageError, match="--agent needs --secret-file"):
        run("/data", "--agent", "dtn02:7000")


def test_it_is_a_command(
    disk: Disk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["advisor"])
    with pytest.raises(SystemExit) as ended:
        main(["file-io", "/data", "--quick"])
    assert ended.value.code == 0
    assert "* best" in capsys.readouterr().out
