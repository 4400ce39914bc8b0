"""Measures file I/O on this host with fio, on its own files, which it removes.

docs/file-io.md describes how fio is made to read and write as transfer tools do, and the source of
its numbers.
"""

import asyncio
import contextlib
import errno
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.availability import AVAILABLE, Availability
from advisor.domain.file_io import FileIoJob, FileIoResult, IoDirection
from advisor.domain.problem import ProblemError
from advisor.domain.quantities import format_bytes
from advisor.hosts.file_io_place import (
    REMOVED_WITH_INPUT,
    RUN_IN_PLACE,
    new_place,
    opened_place,
    remove_left_over,
    remove_place,
)
from advisor.hosts.filesystems import filesystem_of, set_stripes
from advisor.hosts.packages import install_line
from advisor.hosts.processes import command_bound_to_stdin, running
from advisor.models.file_io import most_bytes

_MIB: Final = 2**20
_FILE: Final = "data"
_LAYING_OUT_CEILINGS: Final = 4.0
_LONGEST_S: Final = 600.0
_LAYING_OUT_REQUEST_BYTES: Final = 4 * _MIB
_WRITE_BACK_EVERY_BYTES: Final = 8 * _MIB

# Buffered writes must reach the disk before a measurement ends, which no time limit cuts short.
_FIRST_BUFFERED_BYTES: Final = 256 * _MIB
_BUFFERED_CEILINGS: Final = 2.0

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class FileIoError(ProblemError):
    """The measurement failed; the message is one sentence with its remedy."""


class _Moved(msgspec.Struct):
    io_bytes: int
    runtime: int


class _Job(msgspec.Struct):
    error: int
    job_runtime: int
    usr_cpu: float
    sys_cpu: float
    read: _Moved
    write: _Moved


class _Report(msgspec.Struct):
    """The fields used of fio's JSON: times in ms, CPU in per cent of `job_runtime`.

    `runtime` is that of the slowest thread, including its fsync; `job_runtime` that of all threads.
    """

    version: str = msgspec.field(name="fio version")
    jobs: list[_Job]


def fio_available() -> Availability:
    """Whether fio is installed here."""
    if shutil.which("fio"):
        return AVAILABLE
    return Availability("fio is not installed here", install_line("fio"))


async def run_file_io(folder: str, job: FileIoJob) -> FileIoResult:
    """One measurement in `folder`. Raises FileIoError."""
    async with file_io_workplace(folder, job.total_bytes) as workplace:
        return await workplace.run(job)


@contextlib.asynccontextmanager
async def file_io_workplace(folder: str, total_bytes: int) -> AsyncIterator["Workplace"]:
    """A place for measurements in `folder`, with files of at most `total_bytes` at a time.

    Never more than `most_bytes` allows. Everything is removed on every way out, also when this
    process is killed; what only a crash of the host left is removed by a later run, after an hour.
    Raises FileIoError.
    """
    allowed_bytes = await asyncio.to_thread(_allowed_bytes, folder)
    await asyncio.to_thread(remove_left_over, folder)
    place = _new_place(folder)
    try:
        async with running(["/bin/sh", "-c", REMOVED_WITH_INPUT, "sh", str(place)]):
            try:
                yield Workplace(folder, place, min(total_bytes, allowed_bytes))
            finally:
                # Before the shell that would do it for us is ended.
                remove_place(place)
    finally:
        remove_place(place)


def _allowed_bytes(folder: str) -> int:
    missing = fio_available()
    if not missing.ok:
        raise FileIoError(f"{missing.reason}: {missing.remedy}")
    try:
        if not Path(folder).is_dir():
            raise FileIoError(f"{folder} is not a folder", remedy="name one that exists")
        filesystem = filesystem_of(folder)
    except OSError as error:
        raise _failed(folder, error) from None
    allowed_bytes = most_bytes(filesystem)
    if not allowed_bytes:
        free = format_bytes(filesystem.free_bytes)
        raise FileIoError(
            f"{folder} has {free} free, too little to measure with 5 % of it",
            remedy="free some space, or name another folder",
        )
    return allowed_bytes


def _new_place(folder: str) -> Path:
    try:
        return new_place(folder)
    except OSError as error:
        raise _failed(folder, error) from None


class Workplace:
    """Runs measurements one after another. Made by `file_io_workplace`."""

    def __init__(self, folder: str, place: Path, total_bytes: int) -> None:
        self._folder = folder
        self._place = place
        self._total_bytes = total_bytes
        self._laid_out_bytes = 0
        self._stripes = 0
        self._written_bps: float | None = None

    async def run(self, job: FileIoJob) -> FileIoResult:
        """Run one measurement. Files to read are created first, once. Raises FileIoError.

        After a job with stripes, which stay those of the place, there is none without.
        """
        if job.stripes not in (0, self._stripes):
            await self._stripe(job.stripes)
        if job.direction == "read":
            await self._lay_out(job.ceiling_s * _LAYING_OUT_CEILINGS)
            return await self._measure(job, min(job.total_bytes, self._laid_out_bytes))
        self._laid_out_bytes = 0
        result = await self._measure(job, min(job.total_bytes, self._writable_bytes(job)))
        self._written_bps = max(self._written_bps or 0.0, result.throughput_bps)
        return result

    async def _stripe(self, count: int) -> None:
        """Have new files in our place so striped: the one to read is created again."""
        try:
            await asyncio.to_thread(set_stripes, str(self._place), count)
        except OSError as error:
            raise FileIoError(f"{error.strerror} in {self._folder}") from None
        self._stripes, self._laid_out_bytes = count, 0

    def _writable_bytes(self, job: FileIoJob) -> int:
        """The file size, or what the disk can take in little more than the job's time limit."""
        if job.direct:
            return self._total_bytes
        affordable_bytes = _FIRST_BUFFERED_BYTES
        if self._written_bps:
            taken_bytes = int(self._written_bps / 8 * job.ceiling_s * _BUFFERED_CEILINGS)
            affordable_bytes = max(taken_bytes, job.threads * job.request_bytes)
        return min(self._total_bytes, affordable_bytes)

    async def _lay_out(self, ceiling_s: float) -> None:
        """Write the file to read, or as much of it as this time allows."""
        if self._laid_out_bytes:
            return
        job = FileIoJob(
            direction="write",
            threads=1,
            request_bytes=_LAYING_OUT_REQUEST_BYTES,
            direct=False,
            total_bytes=self._total_bytes,
            ceiling_s=min(ceiling_s, _LONGEST_S),
        )
        self._laid_out_bytes = (await self._measure(job, self._total_bytes)).moved_bytes

    async def _measure(self, job: FileIoJob, total_bytes: int) -> FileIoResult:
        part_bytes = total_bytes // job.threads // job.request_bytes * job.request_bytes
        if not part_bytes:
            raise FileIoError(
                f"{format_bytes(total_bytes)} in {self._folder} is too little for {job.threads} "
                f"threads with requests of {format_bytes(job.request_bytes)}",
                remedy="use fewer or smaller",
            )
        try:
            with opened_place(self._place) as place:
                os.utime(place)
                if job.direction == "write":  # A transfer writes new files too.
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(_FILE, dir_fd=place)
        except OSError as error:
            raise _failed(self._folder, error) from None
        report = await self._fio(job, _options(job, part_bytes))
        return _result(report, job.direction, self._folder)

    async def _fio(self, job: FileIoJob, options: list[str]) -> _Report:
        argv = ["/bin/sh", "-c", RUN_IN_PLACE, "sh", str(self._place), "fio", *options]
        async with running(command_bound_to_stdin(argv)) as child:
            output = await child.stdout.read()
            status = await child.wait()
            said = child.stderr.decode(errors="replace").strip()
        try:
            # fio prints its remarks before its JSON, on the same stream.
            report = msgspec.json.decode(output[max(0, output.find(b"{")) :], type=_Report)
        except msgspec.MsgspecError:
            report = None
        if report and status == 0 and not any(one.error for one in report.jobs):
            return report
        number = next((one.error for one in report.jobs if one.error), 0) if report else 0
        if number == errno.EINVAL and job.direct:
            raise FileIoError(
                f"{self._folder} does not support direct I/O with requests of "
                f"{format_bytes(job.request_bytes)}",
                remedy="measure it buffered",
            )
        raise FileIoError(_sentence(self._folder, number, said.splitlines()[0] if said else ""))


def _options(job: FileIoJob, part_bytes: int) -> list[str]:
    """Each thread has one request in flight, in its own part of the file, as the tools do."""
    options = [
        "--name=file-io",
        "--output-format=json",
        "--group_reporting",
        f"--filename={_FILE}",
        f"--rw={job.direction}",
        "--ioengine=psync",
        "--thread",
        f"--numjobs={job.threads}",
        f"--bs={job.request_bytes}",
        f"--size={part_bytes}",
        f"--offset_increment={part_bytes}",
        f"--direct={int(job.direct)}",
        f"--runtime={max(1, round(job.ceiling_s * 1000))}ms",
        "--fallocate=none",
        "--fadvise_hint=0",
        "--invalidate=1",
    ]
    if job.direction == "read":
        # The file exists: fio must not extend it.
        return [*options, "--allow_file_create=0"]
    options.append("--end_fsync=1")
    if not job.direct:
        every = max(1, _WRITE_BACK_EVERY_BYTES // job.request_bytes)
        options.append(f"--sync_file_range=write:{every}")
    return options


def _result(report: _Report, direction: IoDirection, folder: str) -> FileIoResult:
    job = report.jobs[0]
    moved = job.read if direction == "read" else job.write
    if not moved.io_bytes:
        raise FileIoError(
            f"nothing was moved in {folder} within the time",
            remedy="is the disk busy? Try again later",
        )
    elapsed_s = max(1, moved.runtime) / 1000  # fio counts whole milliseconds.
    cpu_s = (job.usr_cpu + job.sys_cpu) / 100 * job.job_runtime / 1000
    return FileIoResult(
        moved_bytes=moved.io_bytes,
        elapsed_s=elapsed_s,
        cpu_cores=cpu_s / elapsed_s,
        program=report.version[:64],
    )


def _failed(folder: str, error: OSError) -> FileIoError:
    return FileIoError(_sentence(folder, error.errno or 0, error.strerror or ""))


def _sentence(folder: str, number: int, said: str) -> str:
    if number in _FULL:
        return f"{folder} is full: free some space, or name another folder"
    if number in (errno.EACCES, errno.EPERM):
        return f"you may not write in {folder}: name a folder of yours"
    if number == errno.EROFS:
        return f"{folder} is mounted read-only: name another folder"
    why = said or (os.strerror(number) if number else "fio ended without a message")
    return f"file I/O in {folder} cannot be measured ({why}): try another folder"
