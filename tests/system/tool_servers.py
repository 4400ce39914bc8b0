"""The servers that `advisor transfer` moves files to."""

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from advisor.testing.gridftp import GridFTPServer, anonymous_server
from tests.ssh_server import SshServer, ssh_server, ssh_that_knows
from tests.xrootd_server import XrootdServer, xrootd_server


class SftpServer(msgspec.Struct, frozen=True):
    """An sshd, for rclone or rsync. `folder`: where files may be put.

    `programs`: a folder for PATH with an ssh that knows it.
    """

    tool: str
    ssh: SshServer
    folder: Path
    programs: Path

    @property
    def url(self) -> str:
        scheme = "sftp" if self.tool == "rclone" else "ssh"
        return f"{scheme}://{self.ssh.address}:{self.ssh.port}"

    def end(self) -> None:
        """With all its connections."""
        self.ssh.process.terminate()
        self.ssh.cut()
        self.ssh.process.wait()


@contextlib.contextmanager
def sftp_server(tool: str) -> Iterator[SftpServer]:
    """Run one for this tool until the block ends."""
    with tempfile.TemporaryDirectory(prefix="sftp-") as base, ssh_server(Path(base, "ssh")) as ssh:
        folder = Path(base, "offered")
        folder.mkdir()
        programs = ssh_that_knows(Path(base), f"Host {ssh.address}\n{ssh.login}")
        yield SftpServer(tool, ssh, folder, programs)


class SendingServer(msgspec.Struct, frozen=True):
    """An XRootD server, for xrdcp. `folder`: where files may be put."""

    xrootd: XrootdServer
    folder: Path
    tool: str = "xrdcp"

    @property
    def url(self) -> str:
        return self.xrootd.url

    def end(self) -> None:
        """With all its connections."""
        self.xrootd.process.kill()
        self.xrootd.process.wait()


@contextlib.contextmanager
def sending_server() -> Iterator[SendingServer]:
    """Run one until the block ends."""
    with (
        tempfile.TemporaryDirectory(prefix="xrootd-") as base,
        xrootd_server(Path(base)) as xrootd,
    ):
        yield SendingServer(xrootd, Path(base))


class Server:
    """A GridFTP server in a thread of its own, until it is ended. `options`: more for its line."""

    tool = "globus-url-copy"

    def __init__(self, *options: str, own_account: bool = False) -> None:
        self._options = options
        self._own_account = own_account
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._ready = threading.Event()
        self.offered: GridFTPServer | None = None
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._thread.start()
        assert self._ready.wait(30)

    async def _run(self) -> None:
        async with anonymous_server(*self._options, own_account=self._own_account) as self.offered:
            self._ready.set()
            await self._over.wait()

    @property
    def folder(self) -> Path:
        assert self.offered is not None
        return self.offered.folder

    @property
    def url(self) -> str:
        assert self.offered is not None
        return self.offered.url

    def end(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()
            self._loop.close()
