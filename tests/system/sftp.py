"""An sshd that `advisor transfer` uses with rclone or rsync, in the place of a GridFTP server."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.ssh_server import SshServer, ssh_server, ssh_that_knows


class SftpServer(msgspec.Struct, frozen=True):
    """`folder`: where files may be put. `programs`: a folder for PATH with an ssh that knows it."""

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
