"""Selects the backend of a lab."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from advisor.hosts.packages import install_line
from advisor.lab import netem
from advisor.lab.backend import Backend
from advisor.lab.emulator import Emulator
from advisor.lab.messages import SetPath
from advisor.lab.networks import NetworkError
from advisor.lab.paths import BadPath, EmulatedPath, changed
from advisor.lab.running import LabOrder

NO_EMULATOR: Final = (
    "the path's emulator is a C program that is compiled on first use, and that failed: "
    + install_line("compiler")
)


async def chosen(order: LabOrder) -> Backend:
    """Start the backend requested by the order: with auto, netem if it supports everything.

    Raises NetworkError if there is none, or if netem was requested and does not support it all.
    """
    if order.backend == "own":
        return await _own(order)
    try:
        able = await netem.abilities()
        reason = netem.obstacle(list(every_path(order)), order.own, order.seed, able)
        if reason is not None:
            raise NetworkError(reason)
    except NetworkError as error:
        if order.backend == "netem":
            raise
        if not order.program:
            raise NetworkError(f"{NO_EMULATOR}; or else netem, but {error}") from None
        return await _own(order)
    return netem.Netem(order.seed, able, has_own=order.own is not None)


async def _own(order: LabOrder) -> Backend:
    return await Emulator.start(Path(order.program), order.seed)


def every_path(order: LabOrder) -> Iterator[EmulatedPath]:
    """Every path that will occur, including those of the schedule."""
    paths = dict(order.hosts)
    yield from paths.values()
    for action in (action for step in order.steps for action in step.actions):
        if not isinstance(action, SetPath):
            continue
        for name in paths if action.host is None else [action.host]:
            if name in paths:
                try:
                    paths[name] = changed(paths[name], action.changes, action.which)
                except BadPath:
                    continue  # It will be refused when its time comes.
                yield paths[name]
