"""The services on the far hosts of a lab: the agent, and a GridFTP server if installed."""

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from advisor.hosts.packages import install_line
from advisor.hosts.processes import Child, server_bound_to_stdin, start
from advisor.lab.networks import Network, NetworkError
from advisor.lab.state import AGENT_PORT

_GRIDFTP_PORT: Final = 2811
_START_S: Final = 15.0
_POLL_S: Final = 0.01
_SERVER: Final = "globus-gridftp-server"
NO_GRIDFTP: Final = f"no GridFTP server on the far hosts: {install_line(_SERVER)}"


def gridftp_program() -> str | None:
    """The server's program; None where it is not installed."""
    return shutil.which(_SERVER, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


async def start_agent(network: Network, address: str, secret_file: Path) -> Child:
    """Start an agent that listens there, with access to the files of the lab's GridFTP servers.

    Raises NetworkError with its last message.
    """
    files = secret_file.parent / "files"
    files.mkdir(exist_ok=True)
    listen = ["agent", "--listen", f"{address}:{AGENT_PORT}", "--secret-file", str(secret_file)]
    listen += ["--files", str(files)]
    command = [sys.executable, "-P", "-m", "advisor", *listen]
    return await _listening(network, command, (address, AGENT_PORT), "the agent")


async def start_gridftp(
    network: Network, program: str, address: str, folder: Path, *, as_root: bool
) -> tuple[Child, str]:
    """Start a GridFTP server for files below `folder`; return it and its URL.

    `as_root`: whether it would be root there, which it must not be. Raises NetworkError.
    """
    argv = [program, "-p", str(_GRIDFTP_PORT), "-allow-anonymous", "-restrict-paths"]
    # What arrives there is dropped: a client can be measured without files.
    argv += [f"RW{folder},RW/dev/null"]
    argv += ["-hostname", address, "-control-interface", address, "-log-level", "ERROR,WARN"]
    argv += ["-logfile", f"{folder}.log"]
    if as_root:
        # To the server it is nobody; to the file system, the user who started the lab.
        argv = ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--", *argv]
    where = (address, _GRIDFTP_PORT)
    child = await _listening(network, argv, where, "the GridFTP server")
    return child, f"ftp://{address}:{_GRIDFTP_PORT}"


async def _listening(network: Network, argv: list[str], where: tuple[str, int], what: str) -> Child:
    """The child, once it accepts connections. Raises NetworkError with its last message."""
    child = await start([*network.prefix, *server_bound_to_stdin(argv)])
    ended = asyncio.create_task(child.wait())
    try:
        async with asyncio.timeout(_START_S):
            while not ended.done():
                if network.answers(*where):
                    return child
                await asyncio.wait([ended], timeout=_POLL_S)
    except TimeoutError:
        pass
    finally:
        ended.cancel()
    lines = child.stderr.decode(errors="replace").strip().splitlines()
    await child.end()
    raise NetworkError(f"{what} did not start: {lines[-1] if lines else 'it said nothing'}")
