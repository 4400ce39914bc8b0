"""How far a transfer is, about once a second."""

import asyncio
from collections.abc import Callable
from typing import Final

from advisor.domain import events as ev
from advisor.domain.plan import ClassProgress
from advisor.models.time_left import time_left
from advisor.session.moving.portion import Portion

_LOOK_EVERY_S: Final = 1.0


async def look_on(portion: Portion, tell: Callable[..., None]) -> None:
    """For ever: tell it, under the portion's name."""
    clock = asyncio.get_running_loop().time
    rates_bps: list[float] = []
    before_s, before_bytes = clock(), portion.moved_bytes
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        at_s, moved_bytes = clock(), portion.moved_bytes
        rates_bps.append(max(0.0, (moved_bytes - before_bytes) * 8 / (at_s - before_s)))
        before_s, before_bytes = at_s, moved_bytes
        # In a thread: the first time it loads a library, for seconds on a busy disk.
        left_s = await asyncio.to_thread(time_left, portion.total_bytes - moved_bytes, rates_bps)
        now = ClassProgress(
            size=portion.name,
            files=portion.arrived_files,
            total_files=portion.total_files,
            moved_bytes=portion.moved_bytes,
            total_bytes=portion.total_bytes,
            rate_bps=rates_bps[-1],
            clients=portion.running,
            parallelism=portion.parallelism,
        )
        tell(ev.FilesMoving, phase="transfer", classes=[now], left_s=left_s)
