"""A real XRootD server."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from advisor.hosts.free_ports import free_run

from .started_server import ServerEnded, started_server


class XrootdServer(msgspec.Struct, frozen=True):
    """Serves the folder `served`, under its own path, to everybody."""

    process: subprocess.Popen[bytes]
    served: Path
    address: str
    port: int

    @property
    def url(self) -> str:
        return f"root://{self.address}:{self.port}"


@contextlib.contextmanager
def xrootd_server(
    served: Path,
    configuration: str = "",
    address: str = "127.0.0.1",
    port: int = 0,
    prefix: Sequence[str] = (),
) -> Iterator[XrootdServer]:
    """Run one until the block ends, at a free port unless one is given. Skips without programs.

    It has the account of the tests. `served` is made where it is missing. `configuration`: further
    lines. `prefix`: how it is started elsewhere.
    """
    for program, package in (("xrdcp", "xrootd-client"), ("xrootd", "xrootd-server")):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is absent: apt install {package}")
    served.mkdir(exist_ok=True)
    port = port or free_run(1, (0, 0), socket.AF_INET)
    # Its sockets and process id: their paths have to be short, and without these lines in the
    # configuration they lie in /tmp, where they stay. It sets the modes of all folders above them
    # but the first.
    with tempfile.TemporaryDirectory(prefix="x", dir="/tmp", ignore_cleanup_errors=True) as (
        own_place
    ):
        lines = Path(own_place, "xrootd.cf")
        lines.write_text(f"all.adminpath {own_place}\nall.pidpath {own_place}\n{configuration}")
        # It refuses to run as root.
        tied = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
        serve = ["env", f"HOME={own_place}", "xrootd", "-p", str(port)]
        serve += ["-l", f"{own_place}/log", "-c", str(lines), "-s", f"{own_place}/pid"]
        command = [*(tied if os.geteuid() == 0 else ()), *serve, str(served)]
        with contextlib.ExitStack() as running:
            process = _begun(running, command, address, port, prefix)
            yield XrootdServer(process, served, address, port)


def _begun(
    running: contextlib.ExitStack,
    command: list[str],
    address: str,
    port: int,
    prefix: Sequence[str],
) -> subprocess.Popen[bytes]:
    """Of 240 starts of 5.5.3, four at the same time, one ended with a segmentation fault."""
    for _ in range(2):
        with contextlib.suppress(ServerEnded):
            return running.enter_context(started_server(command, address, port, prefix))
    return running.enter_context(started_server(command, address, port, prefix))
