"""Reports the external load of the lab in which a transfer runs."""

import asyncio
from collections.abc import Callable
from typing import Final

from advisor.domain import events as ev
from advisor.lab import control
from advisor.lab.messages import GetStatus
from advisor.lab.state import LabError

_LOOK_EVERY_S: Final = 1.0


async def watch_load(lab: str, tell: Callable[..., None]) -> None:
    """Emit the load whenever it changes; returns when the lab is gone."""
    before = (0, 0)
    while True:
        try:
            status = await asyncio.to_thread(control.tell, lab, GetStatus())
        except LabError:
            return
        now = (status.transfers, status.compute)
        if now != before:
            tell(ev.LoadChanged, transfers=status.transfers, compute=status.compute)
        before = now
        await asyncio.sleep(_LOOK_EVERY_S)
