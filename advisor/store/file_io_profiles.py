"""Measurements of file I/O as a profile of the history."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from advisor.domain.endpoints import Pair
from advisor.domain.file_io import (
    DESTINATION_DISK,
    SOURCE_DISK,
    FileIoJob,
    FileIoResult,
    Filesystem,
    IoDirection,
)
from advisor.domain.grid import Axis, Grid
from advisor.domain.records import ProbeRecord, ProfileRecord

SUBJECTS: Final[dict[IoDirection, str]] = {"read": SOURCE_DISK, "write": DESTINATION_DISK}

_STAGE: Final = "file I/O"


def file_io_records(
    host: str,
    filesystem: Filesystem,
    measured: Sequence[tuple[FileIoJob, FileIoResult]],
    *,
    session: str,
    recorded_s: float,
) -> tuple[ProfileRecord, list[ProbeRecord]]:
    """A profile of a folder, whose source and destination are the one host, and its probes."""
    pair = Pair(host, host)
    jobs = [job for job, _ in measured]
    folder = PurePath(filesystem.folder).name or "root"
    profile = ProfileRecord(
        session=session,
        pair=pair,
        recorded_s=recorded_s,
        name=f"{host}-{folder}-{session}",
        grids=[_grid(one, jobs) for one in dict.fromkeys(job.direction for job in jobs)],
        about=f"file I/O in {filesystem.folder}: {filesystem.kind} ({filesystem.device})",
    )
    return profile, [_probe(profile, *one) for one in measured]


def _grid(direction: IoDirection, jobs: Sequence[FileIoJob]) -> Grid:
    settings = [job.setting for job in jobs if job.direction == direction]
    return Grid(
        subject=SUBJECTS[direction],
        axes=tuple(
            Axis(name, tuple(dict.fromkeys(setting[name] for setting in settings)))
            for name in settings[0]
        ),
    )


def _probe(profile: ProfileRecord, job: FileIoJob, result: FileIoResult) -> ProbeRecord:
    return ProbeRecord(
        pair=profile.pair,
        subject=SUBJECTS[job.direction],
        setting=job.setting,
        result=result.measurement,
        recorded_s=profile.recorded_s,
        session=profile.session,
        stage=_STAGE,
        label="round 1",
    )
