"""Measurements of file I/O as a profile of the history."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from advisor.domain.endpoints import Pair
from advisor.domain.file_io import (
    DESTINATION_DISK,
    SOURCE_DISK,
    STRIPES,
    FileIoJob,
    FileIoResult,
    Filesystem,
    IoDirection,
)
from advisor.domain.grid import Axis, Grid
from advisor.domain.printable import MOST_SHOWN, shortened
from advisor.domain.records import ProbeRecord, ProfileRecord
from advisor.domain.space import Setting
from advisor.store.profiles import profile_name

SUBJECTS: Final[dict[IoDirection, str]] = {"read": SOURCE_DISK, "write": DESTINATION_DISK}

_STAGE: Final = "file I/O"


def file_io_pair(host: str) -> Pair:
    """The pair that the measurements of a host's folders are stored for."""
    return Pair(host, host)


def file_io_records(
    host: str,
    filesystem: Filesystem,
    measured: Sequence[tuple[FileIoJob, FileIoResult]],
    *,
    session: str,
    recorded_s: float,
) -> tuple[ProfileRecord, list[ProbeRecord]]:
    """A profile of a folder, whose source and destination are the one host, and its probes."""
    pair = file_io_pair(host)
    jobs = [job for job, _ in measured]
    layout: Setting = {STRIPES: 0} if any(job.stripes for job in jobs) else {}
    folder = PurePath(filesystem.folder).name or "root"
    profile = ProfileRecord(
        session=session,
        pair=pair,
        recorded_s=recorded_s,
        name=profile_name(f"{host}-{folder}", session),
        grids=[_grid(one, jobs, layout) for one in dict.fromkeys(job.direction for job in jobs)],
        about=shortened(
            f"file I/O in {filesystem.folder}: {filesystem.kind} ({filesystem.device})", MOST_SHOWN
        ),
    )
    return profile, [_probe(profile, layout, *one) for one in measured]


def _grid(direction: IoDirection, jobs: Sequence[FileIoJob], layout: Setting) -> Grid:
    settings = [layout | job.setting for job in jobs if job.direction == direction]
    return Grid(
        subject=SUBJECTS[direction],
        axes=tuple(
            Axis(name, tuple(dict.fromkeys(setting[name] for setting in settings)))
            for name in settings[0]
        ),
    )


def _probe(
    profile: ProfileRecord, layout: Setting, job: FileIoJob, result: FileIoResult
) -> ProbeRecord:
    return ProbeRecord(
        pair=profile.pair,
        subject=SUBJECTS[job.direction],
        setting=layout | job.setting,
        result=result.measurement,
        recorded_s=profile.recorded_s,
        session=profile.session,
        stage=_STAGE,
        label="round 1",
    )
