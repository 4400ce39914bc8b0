"""Servers that `advisor transfer` uses in the place of a GridFTP server."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

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
