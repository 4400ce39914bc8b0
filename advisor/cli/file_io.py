"""`advisor file-io`: how fast a folder is read and written, here or at the destination."""

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command, option_of
from advisor.cli.completion import destinations
from advisor.cli.connection import ReachOptions, with_host_defaults
from advisor.cli.errors import UsageError
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import CONNECTION, ResultAsJson, StoreOption
from advisor.domain.advice import Side
from advisor.domain.endpoints import Endpoint
from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem, IoDirection
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.hosts.file_io import FileIoError, file_io_workplace
from advisor.hosts.filesystems import filesystem_of
from advisor.models.file_io import fastest, full_jobs, most_bytes, quick_jobs
from advisor.models.filesystems import notes_on, setstripe_line
from advisor.report.file_io import Measured, Profile, Report, job_words, progress, table
from advisor.report.output import say, say_json
from advisor.report.tables import print_table
from advisor.runtime.exit_codes import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_PEER,
    EXIT_USAGE,
)
from advisor.runtime.request import AdviceRequest
from advisor.runtime.session_id import new_session_id
from advisor.store.file_io_profiles import file_io_pair, file_io_records
from advisor.store.history import Store

_SIDES: Final[dict[IoDirection, Side]] = {"read": "source", "write": "destination"}

Run = Callable[[FileIoJob], Awaitable[FileIoResult]]


class MeasurableHost(Protocol):
    """A host whose folders can be measured."""

    name: str

    async def filesystem(self, folder: str) -> Filesystem:
        """Raises FileIoError."""

    def measuring(
        self, folder: str, total_bytes: int
    ) -> contextlib.AbstractAsyncContextManager[Run]:
        """The measuring object there, for the duration of the block. Raises FileIoError."""


@command("file-io")
def file_io(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder to measure in.")],
    *,
    read: Annotated[bool, typer.Option("--read", help="Measure reading only.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Measure writing only.")] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Three measurements for each direction, not the whole grid."),
    ] = False,
    destination: Annotated[
        Endpoint | None,
        typer.Option(
            "--at",
            **p.ENDPOINT,
            autocompletion=destinations,
            callback=with_host_defaults,
            is_eager=True,
            help="The host of the folder, [USER@]HOST or lab:NAME, where an agent measures it.",
            rich_help_panel=CONNECTION,
        ),
    ] = None,
    agent: Annotated[p.HostPort | None, option_of(ReachOptions, "agent")] = None,
    secret_file: Annotated[Path | None, option_of(ReachOptions, "secret_file")] = None,
    agent_command: Annotated[str | None, option_of(ReachOptions, "agent_command")] = None,
    push: Annotated[bool, option_of(ReachOptions, "push")] = False,
    keep_agent: Annotated[bool, option_of(ReachOptions, "keep_agent")] = False,
    store: StoreOption,
    as_json: ResultAsJson = False,
) -> int:
    """Measure how fast files are read and written in FOLDER, with fio.

    \b
    advisor file-io /data/run42 --read
    advisor file-io /store --write --at dtn02

    It writes its own file there, of at most 5 % of the free space and 4 GiB, and removes it, also
    on Ctrl-C. The results are kept as a profile, which 'advisor profile show' and 'compare' take.
    Exits with 0 when something was measured, else with 1.
    """
    directions: tuple[IoDirection, ...] = ("read",) if read and not write else ("write",)
    if read == write:
        directions = ("read", "write")
    reach = ReachOptions(
        agent=agent,
        secret_file=secret_file,
        agent_command=agent_command,
        push=push,
        keep_agent=keep_agent,
    )
    place = _place(destination, reach)
    try:
        report = asyncio.run(_until_signal(_profile(place, folder, directions, quick, store)))
    except FileIoError as error:
        return _failed(error, EXIT_FAILED)
    except _Unreachable as error:
        return _failed(error, error.exit_code)
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    if as_json:
        say_json(msgspec.json.encode(report))
    else:
        _print(report)
    measured = [(one.job, one.result) for profile in report.profiles for one in profile.measured]
    if not measured:
        return EXIT_FAILED
    _keep(store, report, measured)
    return EXIT_DONE


def _keep(store: Store, report: Report, measured: Sequence[tuple[FileIoJob, FileIoResult]]) -> None:
    """Store the measurements as a profile."""
    profile, probes = file_io_records(
        report.host,
        report.filesystem,
        measured,
        session=new_session_id(),
        recorded_s=time.time(),
    )
    with store_errors():
        store.append_missing([profile, *probes])
    say(f"Kept as a profile: advisor profile show {profile.name}", err=True)


class _Unreachable(Exception):
    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def _tell(sentence: str) -> None:
    say(f"advisor: {sentence}", err=True)


def _failed(error: Exception, exit_code: int) -> int:
    say(f"advisor: {error}", err=True)
    return exit_code


def _place(destination: Endpoint | None, reach: ReachOptions) -> MeasurableHost:
    if destination is None and not reach.agent and not reach.secret_file:
        return _Here()
    from advisor.cli.lab_source import on_lab

    return _There(on_lab(AdviceRequest(**reach.request_fields(destination))))


class _Here:
    """This host."""

    name = socket.gethostname() or "localhost"

    async def filesystem(self, folder: str) -> Filesystem:
        try:
            return await asyncio.to_thread(filesystem_of, folder)
        except OSError as error:
            raise FileIoError(f"{folder}: {error.strerror or error}") from None

    @contextlib.asynccontextmanager
    async def measuring(self, folder: str, total_bytes: int) -> AsyncIterator[Run]:
        async with file_io_workplace(folder, total_bytes) as workplace:
            yield workplace.run


class _There:
    """A host with an agent, which creates the file to read for each measurement."""

    def __init__(self, request: AdviceRequest) -> None:
        self.name = str(request.destination)
        self._request = request

    async def filesystem(self, folder: str) -> Filesystem:
        from advisor.agent.peer_errors import Refusal

        async with self._link() as link:
            try:
                found: Filesystem = await link.folder(folder)
            except Refusal as error:
                raise FileIoError.about("", error) from None
            return found

    @contextlib.asynccontextmanager
    async def measuring(self, folder: str, total_bytes: int) -> AsyncIterator[Run]:
        from advisor.agent.peer_errors import Refusal

        async with self._link() as link:

            async def run(job: FileIoJob) -> FileIoResult:
                try:
                    result: FileIoResult = await link.file_io(folder, job)
                except Refusal as error:
                    raise FileIoError.about("", error) from None
                return result

            yield run

    @contextlib.asynccontextmanager
    async def _link(self) -> AsyncIterator[Any]:
        from advisor.agent.peer_errors import PeerError
        from advisor.agent.secret import BadSecret
        from advisor.runtime.connect import reach

        try:
            reached = await reach(self._request, _tell)
            try:
                yield reached.link
            finally:
                await asyncio.shield(reached.link.close())
        except PeerError as error:
            raise _Unreachable(str(error), EXIT_PEER) from None
        except BadSecret as error:
            raise _Unreachable(str(error), EXIT_USAGE) from None


async def _until_signal(working: Awaitable[Report]) -> Report:
    """Ctrl-C cancels the measurement, which removes its file on the way out."""
    task = asyncio.ensure_future(working)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    return await task


async def _profile(
    place: MeasurableHost,
    folder: str,
    directions: Sequence[IoDirection],
    quick: bool,
    store: Store,
) -> Report:
    filesystem = await place.filesystem(folder)
    jobs_of = quick_jobs if quick else full_jobs
    jobs = {direction: jobs_of(direction, filesystem) for direction in directions}
    if Path(filesystem.folder) != Path(folder).absolute():
        raise UsageError(f"{folder} on {place.name} is not a folder", remedy="name one that exists")
    _tell_plan(place.name, filesystem, jobs)
    # What is measured takes minutes: whether it can be kept is known before.
    store.check_access(file_io_pair(place.name))
    with progress(sum(map(len, jobs.values()))) as advance:
        profiles = [
            await _measure(place, filesystem, direction, some, advance)
            for direction, some in jobs.items()
        ]
    notes = [note for one in directions for note in notes_on(filesystem, _SIDES[one])]
    return Report(
        host=place.name,
        filesystem=filesystem,
        notes=list(dict.fromkeys(notes)),
        profiles=profiles,
    )


def _tell_plan(host: str, filesystem: Filesystem, jobs: dict[IoDirection, list[FileIoJob]]) -> None:
    """What will be written where. Raises FileIoError where nothing can be written."""
    where = filesystem.folder
    if not filesystem.writable:
        raise FileIoError(f"{where} on {host} is not writable", remedy="name a writable folder")
    largest_bytes = most_bytes(filesystem)
    if not largest_bytes:
        raise FileIoError(
            f"{where} on {host} has {format_bytes(filesystem.free_bytes)} free, too little "
            "to measure with 5 % of it",
            remedy="free some space, or name another folder",
        )
    count = sum(map(len, jobs.values()))
    ceilings_s = sum(job.ceiling_s for some in jobs.values() for job in some)
    say(
        f"{where} on {host}: {filesystem.kind} ({filesystem.device}), "
        f"{format_bytes(filesystem.free_bytes)} free of {format_bytes(filesystem.total_bytes)}\n"
        f"Writes a file of at most {format_bytes(largest_bytes)} "
        f"({100 * largest_bytes / filesystem.free_bytes:.2g} % of the free space) below "
        f"{where}, and removes it.\n"
        f"{count} measurements of at most {format_duration(ceilings_s / count)} each",
        err=True,
    )


async def _measure(
    place: MeasurableHost,
    filesystem: Filesystem,
    direction: IoDirection,
    jobs: Sequence[FileIoJob],
    advance: Callable[[str], None],
) -> Profile:
    """Run all jobs, but in each mode and layout only up to the first that is refused."""
    results: list[tuple[FileIoJob, FileIoResult]] = []
    failures: dict[tuple[int, bool], str] = {}
    try:
        async with place.measuring(filesystem.folder, most_bytes(filesystem)) as run:
            for job in jobs:
                advance(job_words(job))
                if (job.stripes, job.direct) in failures:
                    continue
                try:
                    results.append((job, await run(job)))
                except FileIoError as error:
                    failures[job.stripes, job.direct] = str(error)
    except FileIoError as error:
        failures[0, False] = str(error)
    best = fastest(results)
    return Profile(
        direction=direction,
        measured=[_measured(*one) for one in results],
        best=_measured(*best) if best else None,
        failures=list(dict.fromkeys(failures.values())),
    )


def _measured(job: FileIoJob, result: FileIoResult) -> Measured:
    return Measured(job=job, result=result, throughput_bps=result.throughput_bps)


def _print(report: Report) -> None:
    for profile in report.profiles:
        if profile.measured:
            say()
            print_table(*table(profile))
        if profile.best:
            best = profile.best
            say(f"* best: {job_words(best.job)}: {format_rate(best.throughput_bps)}")
            if best.job.stripes and profile.direction == "write":
                line = setstripe_line(report.filesystem.folder, best.job.stripes)
                say(f"To have new files striped so, which was not done: {line}")
        for failure in profile.failures:
            say(f"not measured: {failure}")
    say()
    for note in report.notes:
        say(note)
