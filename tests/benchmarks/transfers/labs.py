"""The labs: a path with its load, and two destinations at one source, all files in memory."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from advisor.lab.state import LabFolder, state_of
from tests.benchmarks.transfers.cases import CONGESTION, PAIR, RATE_BPS, RTT_S, Load
from tests.benchmarks.wan import cases as wan
from tests.benchmarks.wan.hosts import Lab, Trouble

FAR: Final = "far"
_SEED: Final = 7
_KERNELS: Final = "/proc/sys/net/ipv4/tcp_congestion_control"
_SOURCES: Final = 8
_SPARE: Final = 2.0
"""The data as a multiple of the path's capacity during a run, so that no run completes."""


class LoadedLab(Lab):
    """A lab whose hosts take `CONGESTION`, and which can be put under load."""

    def __init__(self, folder: Path, options: tuple[str, ...], hosts: tuple[str, ...]) -> None:
        case = wan.Case(
            key="transfers", title="transfers", rtt_s=RTT_S, options=options, congestion=""
        )
        super().__init__(folder, case, _SEED)
        self.hosts = hosts

    def __enter__(self) -> LoadedLab:
        super().__enter__()
        try:
            for host in ("source", *self.hosts):
                words = ["sh", "-c", f"echo {CONGESTION} > {_KERNELS}"]
                self._lab_command("exec", self.name, "--host", host, "--", *words)
        except BaseException:
            self.__exit__()
            raise
        return self

    @property
    def name(self) -> str:
        return self.endpoint.removeprefix("lab:")

    def put(self, load: Load) -> None:
        """Replace the present load by this one."""
        transfers, compute = str(load.transfers), str(load.compute)
        self._lab_command("load", self.name, "--transfers", transfers, "--compute", compute)

    def endpoint_of(self, host: str) -> str:
        """As a destination on the command line."""
        return f"{self.endpoint}:{host}" if len(self.hosts) > 1 else self.endpoint

    def target(self, host: str) -> Path:
        """Where files go to on that host."""
        return LabFolder(self.name).files(host) / "arrived"

    def server(self, host: str) -> str:
        """The URL of its GridFTP server. Raises Trouble where none runs."""
        if url := state_of(self.name).far(host).gridftp_url:
            return url
        raise Trouble("no GridFTP server runs in the lab: install globus-gridftp-server")


def one_path(folder: Path) -> LoadedLab:
    """Source and destination."""
    options = ("--rtt", f"{RTT_S * 1000:g}ms", "--rate", f"{RATE_BPS / 1e6:g}Mbit")
    return LoadedLab(folder, options, (FAR,))


def two_paths(folder: Path) -> LoadedLab:
    """Two destinations; all data to both passes the source's interface first."""
    hosts = ",".join(f"{host}={path}" for host, path in PAIR.items())
    return LoadedLab(
        folder, ("--hosts", hosts, "--source-rate", f"{RATE_BPS / 1e6:g}Mbit"), tuple(PAIR)
    )


def make_sources(folder: Path, seconds: float) -> Path:
    """Large sparse files with more data than the path can carry in that time."""
    folder.mkdir()
    size = round(_SPARE * RATE_BPS / 8 * seconds / _SOURCES)
    for number in range(_SOURCES):
        with (folder / f"{number}.dat").open("wb") as file:
            file.truncate(size)
    return folder


def check_room(folder: Path, seconds: float) -> None:
    """Raises Trouble if the data that arrives in this many seconds might not fit."""
    wanted, free = RATE_BPS / 8 * seconds * 1.1, shutil.disk_usage(folder).free
    if free < wanted:
        raise Trouble(
            f"{folder} has {free / 1e9:.1f} GB free and a run fills up to {wanted / 1e9:.1f}: "
            "give less --seconds, or another --folder"
        )
