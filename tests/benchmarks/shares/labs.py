"""The lab: five destinations behind one interface, all files in memory."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from tests.benchmarks.shares.cases import (
    HOSTS,
    MTU_BYTES,
    RATES_BPS,
    RTTS_S,
    SOURCE_QUEUE,
    SOURCE_RATE_BPS,
)
from tests.benchmarks.transfers.labs import LoadedLab
from tests.benchmarks.wan.hosts import Trouble

_SPARE: Final = 4.0
"""The data as a multiple of the interface's capacity during a run, so that no run completes."""

_ROOM: Final = 1.5
"""The most space that the files take beyond the interface's capacity."""


class FiveHosts(LoadedLab):
    """Each with a rate and an RTT of its own."""

    def __enter__(self) -> FiveHosts:
        super().__enter__()
        try:
            for host, rate_bps in RATES_BPS.items():
                path = ("--rate", f"{rate_bps / 1e6:g}Mbit", "--rtt", f"{RTTS_S[host] * 1e3:g}ms")
                self._lab_command("set", self.name, "--host", host, *path)
        except BaseException:
            self.__exit__()
            raise
        return self


def five_hosts(folder: Path) -> FiveHosts:
    """What the source sends to all of them goes through its interface first."""
    shared = ("--source-rate", f"{SOURCE_RATE_BPS / 1e6:g}Mbit", "--source-queue", SOURCE_QUEUE)
    hosts = ("--hosts", ",".join(HOSTS), "--mtu", str(MTU_BYTES))
    return FiveHosts(folder, (*hosts, *shared), HOSTS)


def make_source(file: Path, seconds: float) -> Path:
    """A file that takes no room, larger than fits through in that time."""
    with file.open("wb") as made:
        made.truncate(round(_SPARE * SOURCE_RATE_BPS / 8 * seconds))
    return file


def check_room(folder: Path, seconds: float) -> None:
    """Raises Trouble where what arrives in this many seconds might not fit."""
    wanted, free = SOURCE_RATE_BPS / 8 * seconds * _ROOM, shutil.disk_usage(folder).free
    if free < wanted:
        raise Trouble(
            f"{folder} has {free / 1e9:.1f} GB free and a run fills up to {wanted / 1e9:.1f}: "
            "give fewer or shorter epochs, or another --folder"
        )
