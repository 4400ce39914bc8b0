"""The tools whose lines are run: each with its server, and the lines of who tunes nothing."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from advisor.lab.state import LabFolder
from tests.benchmarks.disk.files import remove
from tests.benchmarks.wan.hosts import Lab
from tests.s3_server import NEWER_RCLONE, S5CMD, s3_server, with_newer_rclone, with_s5cmd
from tests.ssh_server import ssh_server, ssh_that_knows
from tests.web_server import web_server
from tests.xrootd_server import xrootd_server


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files go. `server`: what `--server` gets, "" for what the lab says itself.

    `clear`: removes what is there, and has the server notice.
    """

    target: Path
    server: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    clear: Callable[[Path], None] = remove


@dataclass(frozen=True, slots=True)
class BenchTool:
    """A tool and its server. `key`: its name among the benches.

    `defaults`: the words of the lines that the gain is over, up to both addresses, by their names
    in the results; the first is that of a user who types no option. `for_folders`: further words
    for a folder. `after_addresses`: how many words follow the addresses in a line of several
    processes. `other_cells`: the number of settings of the space for each number of files at a
    time. `options`: of `advisor advise`. `version`: what says its version. `keeps_name`: as typed,
    it gives a folder its own name in the named one. `tuned`: the options of a line that its default
    lacks, as a regular expression; "" where the default has words of its own. `place`: for these
    files.
    """

    key: str
    name: str
    defaults: Mapping[str, tuple[str, ...]]
    other_cells: int
    place: Callable[[Lab, Path], AbstractContextManager[Place]]
    for_folders: tuple[str, ...] = ()
    after_addresses: int = 0
    options: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    keeps_name: bool = False
    tuned: str = ""

    @property
    def version_command(self) -> tuple[str, ...]:
        return self.version or (self.name, "--version")


_PORT: Final = 9000
"""Of every server, alone on its host. Its keys have one place too: lines of an interrupted run are
run again when it is resumed."""


def _far_folder(lab: Lab) -> Path:
    return LabFolder(lab.endpoint.removeprefix("lab:")).files("far")


@contextlib.contextmanager
def _gridftp(lab: Lab, _: Path) -> Iterator[Place]:
    yield Place(_far_folder(lab) / "arrived")


@contextlib.contextmanager
def _ssh(lab: Lab, _: Path, scheme: str) -> Iterator[Place]:
    """An sshd on the far host, and an ssh that knows it."""
    base = _far_folder(lab) / "login"
    base.mkdir()
    with ssh_server(
        base / "ssh",
        # As a site that expects many connections has it; the default refuses some of ten.
        "MaxStartups 100",
        address=lab.far_address,
        port=_PORT,
        prefix=lab.command([], host="far"),
    ) as server:
        programs = ssh_that_knows(base, f"Host *\n{server.login}")
        yield Place(
            _far_folder(lab) / "arrived",
            f"{scheme}://{server.address}:{server.port}",
            {"PATH": f"{programs}:{os.environ['PATH']}"},
        )


@contextlib.contextmanager
def _s3(lab: Lab, _: Path, program: str) -> Iterator[Place]:
    """An S3 server on the far host, for a folder there, and its client of that name."""
    folder = _far_folder(lab) / "s3"
    prefix = lab.command([], host="far")
    with (
        tempfile.TemporaryDirectory() as base,
        s3_server(folder, lab.far_address, _PORT, prefix) as store,
    ):

        def clear(target: Path) -> None:
            # By the server, which continues to list what others removed, so that rclone skips it.
            purge = [*prefix, str(NEWER_RCLONE), "purge", f"mine:bucket/{target.name}"]
            own = {**os.environ, **store.environment}
            subprocess.run(purge, env=own, capture_output=True, check=False)
            remove(target)  # What it was writing when a client was cut off.
            store.read_folders_again()

        is_rclone = program == "rclone"
        programs = (with_newer_rclone if is_rclone else with_s5cmd)(Path(base))
        path = {"PATH": f"{programs}:{os.environ['PATH']}"}
        # The endpoint is for the default line, which names none.
        own = {**store.credentials, "S3_ENDPOINT_URL": store.url}
        yield Place(
            store.served / "bucket" / "arrived",
            "mine:bucket/arrived" if is_rclone else f"{store.url}/bucket/arrived",
            {**(store.environment if is_rclone else own), **path},
            clear=clear,
        )


@contextlib.contextmanager
def _xrootd(lab: Lab, _: Path) -> Iterator[Place]:
    """An XRootD server on the far host, for a folder there."""
    folder, prefix = _far_folder(lab), lab.command([], host="far")
    with xrootd_server(folder, address=lab.far_address, port=_PORT, prefix=prefix) as server:
        yield Place(folder, server.url)


@contextlib.contextmanager
def _web(lab: Lab, data: Path) -> Iterator[Place]:
    """A web server on the source for these files, and an sshd on the far host."""
    prefix = lab.command([], host="source")
    with (
        web_server(data, lab.source_address, _PORT, prefix) as web,
        _ssh(lab, data, scheme="ssh") as place,
    ):
        yield replace(place, server=web.url)


GLOBUS_URL_COPY: Final = BenchTool(
    key="globus-url-copy",
    name="globus-url-copy",
    defaults={
        "as typed": ("globus-url-copy",),
        "-fast -pp": ("globus-url-copy", "-fast", "-pp"),
    },
    for_folders=("-r", "-cd"),
    # One to eight streams, with and without pipelining.
    other_cells=8,
    place=_gridftp,
    version=("globus-url-copy", "-version"),
)
_AES: Final = "-c aes128-gcm@openssh.com"
TOOLS: Final = {
    tool.key: tool
    for tool in (
        GLOBUS_URL_COPY,
        BenchTool(
            key="rclone",
            name="rclone",
            defaults={"as typed": ("rclone", "copyto")},
            other_cells=1,
            place=partial(_ssh, scheme="sftp"),
        ),
        BenchTool(
            key="rclone-s3",
            name="rclone",
            defaults={"as typed": ("rclone", "copyto")},
            # One to four parts of 5 to 80 MiB.
            other_cells=15,
            options=("--max-concurrency", "16", "--max-streams", "4"),
            place=partial(_s3, program="rclone"),
            version=(str(NEWER_RCLONE), "--version"),
        ),
        BenchTool(
            key="s5cmd",
            name="s5cmd",
            defaults={"as typed": ("s5cmd", "cp")},
            # One to four parts of 5 to 80 MiB.
            other_cells=15,
            options=("--max-streams", "4"),
            place=partial(_s3, program="s5cmd"),
            version=(str(S5CMD), "version"),
        ),
        BenchTool(
            key="rsync",
            name="rsync",
            defaults={"as typed": ("rsync", "-a"), _AES: ("rsync", "-a", "-e", f"ssh {_AES}")},
            after_addresses=1,
            other_cells=1,
            place=partial(_ssh, scheme="ssh"),
        ),
        BenchTool(
            key="xrdcp",
            name="xrdcp",
            defaults={"as typed": ("xrdcp",)},
            for_folders=("-r",),
            other_cells=1,
            place=_xrootd,
            keeps_name=True,
        ),
        BenchTool(
            key="aria2c",
            name="aria2c",
            defaults={"as typed": ("aria2c",)},
            tuned=r"-x \d+ -s \d+ -k 1M -j \d+ --file-allocation falloc ",
            # One to four connections for each file.
            other_cells=3,
            options=("--max-streams", "4"),
            place=_web,
        ),
    )
}
