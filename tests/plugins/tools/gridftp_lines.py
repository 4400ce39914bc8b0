"""What the tests of globus-url-copy have in common: requests, and running lines for real."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from advisor import registry
from advisor.api.tool import CommandRequest
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting
from advisor.hosts.processes import running
from advisor.testing.gridftp import PACKAGES, GridFTPServer
from advisor.testing.samples import a_path

PLUGIN = registry.transfer_tool("globus-url-copy")
TCP: Setting = {"streams": 4, "buffer_bytes": 2**20, "congestion": "cubic"}
UDT: Setting = {"block_bytes": 8956 * 100, "buffer_bytes": 8192 * 8972, "mss_bytes": 9000}
LINE_S = 20.0


def require(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is absent: apt install {PACKAGES[program]}")


def a_request(**changes: Any) -> CommandRequest:
    given: dict[str, Any] = {
        "subject": "tcp",
        "settings": {"tcp": TCP, "udt": UDT},
        "path": a_path(),
        "destination_host": "dtn2.example.org",
        "source_path": "/data/run 7.h5",
        "destination_path": "/store/run 7.h5",
    }
    return CommandRequest(**(given | changes))


def the_line(request: CommandRequest) -> Command:
    (command,) = PLUGIN.commands(request)
    return command


def a_directory(*sizes: int) -> Dataset:
    return Dataset(total_bytes=sum(sizes), files=len(sizes), largest="a", largest_bytes=max(sizes))


def contents(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


async def run(server: GridFTPServer, argv: list[str]) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a line."""
    settings = [f"{name}={value}" for name, value in server.environment.items()]
    async with asyncio.timeout(LINE_S), running(["env", *settings, *argv]) as child:
        output = await child.stdout.read()
        status = await child.wait()
        return status, output.decode(errors="replace"), child.stderr.decode(errors="replace")


async def run_as_printed(server: GridFTPServer, shell_line: str) -> None:
    """Run the line as a user would who pastes it. Fails with what it said when it fails."""
    status, _, errors = await run(server, ["/bin/sh", "-c", shell_line])
    assert status == 0, errors
