"""How fast a folder is read and written, as tables and sentences."""

import contextlib
import sys
from collections.abc import Callable, Iterator

import msgspec

from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem, IoDirection
from advisor.domain.quantities import format_bytes, format_rate
from advisor.report.output import transient_bar


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement of `--json`; `throughput_bps` in bit/s."""

    job: FileIoJob
    result: FileIoResult
    throughput_bps: float


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One direction. `best`: the fastest, None where there is none. `failures`: sentences."""

    direction: IoDirection
    measured: list[Measured]
    best: Measured | None
    failures: list[str]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints. `host` as the user named it; `notes` are sentences."""

    host: str
    filesystem: Filesystem
    notes: list[str]
    profiles: list[Profile]


@contextlib.contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """A function to call at the start of each measurement, which moves a bar on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _what: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    with transient_bar(
        sys.stderr,
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
    ) as bar:
        task = bar.add_task("", total=total)
        begun = iter(range(total))
        yield lambda what: bar.update(task, description=what, completed=next(begun))


def job_words(job: FileIoJob) -> str:
    """The measurement in words."""
    threads = f"{job.threads} thread{'s' if job.threads > 1 else ''}"
    return f"{job.direction}, {threads}, {format_bytes(job.request_bytes)} requests, {_mode(job)}"


def _mode(job: FileIoJob) -> str:
    mode = "direct" if job.direct else "buffered"
    return f"{mode}, {job.stripes} stripes" if job.stripes else mode


def table(profile: Profile) -> tuple[tuple[str, ...], list[list[str]]]:
    """Threads, mode and stripes down, request sizes across, the best with a star."""
    cells = {(_row(one.job), one.job.request_bytes): one for one in profile.measured}
    sizes = sorted({size for _, size in cells})
    rows = [
        [
            *(str(one) for one in row),
            *(_cell(cells.get((row, size)), profile.best) for size in sizes),
        ]
        for row in dict.fromkeys(row for row, _ in cells)
    ]
    return (profile.direction, "threads", *(format_bytes(size) for size in sizes)), rows


def _row(job: FileIoJob) -> tuple[str, int]:
    return _mode(job), job.threads


def _cell(one: Measured | None, best: Measured | None) -> str:
    if one is None:
        return "–"
    return f"{format_rate(one.throughput_bps)}{' *' if one == best else ''}"
