"""GridFTP servers for testing command lines: on loopback, each with its own port and folder.

Needs the Debian packages of `PACKAGES`. If root starts it, a server runs as `nobody`; otherwise
as the user who started it. Folder, keys and processes are removed when the block ends.
"""

import asyncio
import contextlib
import os
import pwd
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor.hosts.processes import running, server_bound_to_stdin
from advisor.testing.gridftp_keys import SUBJECT, make_keys

PACKAGES: Final = {
    "globus-gridftp-server": "globus-gridftp-server-progs",
    "globus-url-copy": "globus-gass-copy-progs",
    "grid-proxy-init": "globus-proxy-utils",
    "openssl": "openssl",
}
"""The Debian package of each program that is run here or by a client of these servers."""

_ADDRESS: Final = "127.0.0.1"
_HOST: Final = "localhost"
"""The name in the host certificate, which a gsiftp:// URL has to use."""

_START_S: Final = 10.0
_REMOVE_TRIES: Final = 20
_REMOVE_PAUSE_S: Final = 0.1


class GridFTPServer(msgspec.Struct, frozen=True, kw_only=True):
    """A running server.

    `url`: scheme, host and port. `folder`: what it serves. `log`: its log of errors and
    transfers. `environment`: the variables that a client needs.
    """

    url: str
    folder: Path
    log: Path
    environment: dict[str, str]


@contextlib.contextmanager
def _workplace(account: pwd.struct_passwd) -> Iterator[Path]:
    """A temporary folder with an `offered` one inside, which belongs to the account."""
    base = Path(tempfile.mkdtemp(prefix="gridftp-"))
    try:
        # The account must be able to enter the offered folder; keys have their own modes.
        base.chmod(0o711)
        offered = base / "offered"
        offered.mkdir()
        if os.geteuid() == 0:
            os.chown(offered, account.pw_uid, account.pw_gid)
        yield base
    finally:
        _remove(base)


def _remove(folder: Path) -> None:
    """Remove it, though an agent may still be creating files in it for a moment."""
    for _ in range(_REMOVE_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_REMOVE_PAUSE_S)
    shutil.rmtree(folder)


def _account() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())


async def _port(stdout: asyncio.StreamReader) -> int:
    """The port the server says it listens on. Raises RuntimeError when it ends instead."""
    async with asyncio.timeout(_START_S):
        line = (await stdout.readline()).decode().strip()
    if not line.rpartition(":")[2].isdigit():
        raise RuntimeError(f"the GridFTP server did not start: {line or 'no output'}")
    return int(line.rpartition(":")[2])


@contextlib.asynccontextmanager
async def _listening(
    base: Path,
    options: list[str],
    environment: Mapping[str, str],
    prefix: Sequence[str] = (),
) -> AsyncIterator[int]:
    """A server that runs until the block ends; yields its port."""
    argv = [*prefix, "env", *(f"{name}={value}" for name, value in environment.items())]
    argv += ["globus-gridftp-server", "-p", "0"]
    argv += ["-hostname", _ADDRESS, "-control-interface", _ADDRESS]
    argv += ["-log-level", "ERROR,WARN,TRANSFER", "-logfile", str(base / "server.log")]
    argv += ["-restrict-paths", f"RW{base / 'offered'},RW/dev/null", *options]
    async with running(server_bound_to_stdin(argv)) as child:
        yield await _port(child.stdout)


@contextlib.asynccontextmanager
async def anonymous_server(
    *options: str, own_account: bool = False
) -> AsyncIterator[GridFTPServer]:
    """A server anyone on this host may use, at ftp://. Raises RuntimeError, TimeoutError.

    `own_account`: its files belong to the user who started it, even if that is root.
    """
    account = pwd.getpwuid(os.geteuid()) if own_account else _account()
    access, prefix = ["-allow-anonymous"], []
    if os.geteuid() == 0 and own_account:
        # The server refuses to run as root: in the user namespace it is nobody.
        prefix = ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"]
    elif os.geteuid() == 0:
        access += ["-anonymous-user", account.pw_name]
    with _workplace(account) as base:
        async with _listening(base, [*access, *options], {}, prefix) as port:
            yield GridFTPServer(
                url=f"ftp://{_ADDRESS}:{port}",
                folder=base / "offered",
                log=base / "server.log",
                environment={},
            )


@contextlib.asynccontextmanager
async def gsi_server(*options: str) -> AsyncIterator[GridFTPServer]:
    """A server for gsiftp://, with a temporary certificate authority and user.

    UDT must be allowed with the option -dc-whitelist udt,gsi,tcp. Raises RuntimeError,
    TimeoutError.
    """
    account = _account()
    with _workplace(account) as base:
        keys = await make_keys(base, _HOST)
        gridmap = base / "gridmap"
        gridmap.write_text(f'"{SUBJECT}" {account.pw_name}\n')
        settings = {**keys.of_server, "GRIDMAP": str(gridmap)}
        # `nobody` has no login shell, and needs none here.
        access = ["-allow-disabled-login", *options]
        async with _listening(base, access, settings) as port:
            yield GridFTPServer(
                url=f"gsiftp://{_HOST}:{port}",
                folder=base / "offered",
                log=base / "server.log",
                environment=keys.of_client,
            )
