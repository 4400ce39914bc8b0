"""Reports the progress of a transfer about once a second."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

from advisor.domain import events as ev
from advisor.domain.plan import ClassProgress
from advisor.models.time_left import LOOKED_AT, time_left
from advisor.transfer.engine.file_group import FileGroup

_LOOK_EVERY_S: Final = 1.0

Phase: TypeAlias = Literal["sample", "transfer"]


async def report_progress(
    groups: Sequence[FileGroup], tell: Callable[..., None], phase: Callable[[], Phase]
) -> None:
    """Forever: emit the progress of each group under its name."""
    clock = asyncio.get_running_loop().time
    rates_bps: deque[float] = deque(maxlen=LOOKED_AT)
    before_s, before = clock(), _carried(groups)
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        at_s, now = clock(), _carried(groups)
        rates = {one: (now[one] - before[one]) * 8 / (at_s - before_s) for one in now}
        before_s, before = at_s, now
        rates_bps.append(sum(rates.values()))
        left_bytes = sum(one.total_bytes - one.moved_bytes for one in groups)
        # In a thread: the first call loads a library, which takes seconds on a busy disk.
        left_s = await asyncio.to_thread(time_left, left_bytes, list(rates_bps))
        tell(
            ev.FilesMoving,
            phase=phase(),
            classes=[_progress(one, rates[one]) for one in groups],
            left_s=left_s if phase() == "transfer" else None,
        )


def _carried(groups: Sequence[FileGroup]) -> dict[FileGroup, int]:
    return {one: one.carried_bytes for one in groups}


def _progress(group: FileGroup, rate_bps: float) -> ClassProgress:
    return ClassProgress(
        size=group.name,
        files=group.arrived_files,
        total_files=group.total_files,
        moved_bytes=group.moved_bytes,
        total_bytes=group.total_bytes,
        rate_bps=rate_bps,
        clients=group.running,
        parallelism=group.parallelism,
        concurrency=group.concurrency,
    )
