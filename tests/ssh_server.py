"""A real sshd on a port of its own, with keys made for it, for tests."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import psutil
import pytest

from advisor.hosts.free_ports import free_run

SSHD: Final = shutil.which("sshd") or "/usr/sbin/sshd"
_START_S: Final = 20.0
needs_sshd = pytest.mark.skipif(
    not Path(SSHD).exists(), reason="there is no sshd here: apt-get install openssh-server"
)


class SshServer(msgspec.Struct, frozen=True):
    """A server that lets the user of the tests in by `folder`'s user_key."""

    folder: Path
    address: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def login(self) -> str:
        """The lines of ssh's configuration that lead to it, without the line of the host."""
        return f"""    HostName {self.address}
    Port {self.port}
    User {getpass.getuser()}
    IdentityFile {self.folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {self.known_hosts}
"""

    def cut(self) -> None:
        """Cut every connection, as a network that fails does: both sides' sshd are killed."""
        for session in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                # sshd-session since OpenSSH 9.8.
                if session.name().startswith("sshd"):
                    session.kill()


@contextlib.contextmanager
def ssh_server(
    folder: Path,
    *config: str,
    address: str = "127.0.0.1",
    port: int = 0,
    prefix: Sequence[str] = (),
) -> Iterator[SshServer]:
    """Run one until the block ends, at a free port unless one is given.

    `config`: more lines. `prefix`: how it is started elsewhere.
    """
    folder.mkdir(mode=0o700)
    for name in ("host_key", "user_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    port = port or free_run(1, (0, 0), socket.AF_INET)
    lines = (
        f"Port {port}",
        f"ListenAddress {address}",
        f"HostKey {folder}/host_key",
        f"AuthorizedKeysFile {folder}/authorized_keys",
        f"PidFile {folder}/pid",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "UsePAM no",
        "StrictModes no",
        "Subsystem sftp internal-sftp",
        *config,
        # Of several such lines the first counts. A shell that sshd starts reads .bashrc, and what
        # the account's own does is not the tests' business.
        f"SetEnv HOME={folder}",
    )
    (folder / "sshd_config").write_text("\n".join(lines) + "\n")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    host_key = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"[{address}]:{port} {host_key}")
    log = folder / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*prefix, SSHD, "-D", "-e", "-f", str(folder / "sshd_config")],
            stdin=subprocess.DEVNULL,
            stderr=stderr,
        )
    try:
        _until_it_listens(process, log)
        yield SshServer(folder, address, port, process)
    finally:
        process.terminate()
        process.wait()


def _until_it_listens(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline_s = time.monotonic() + _START_S
    while "listening" not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline_s, log.read_text()
        time.sleep(0.02)


def ssh_that_knows(folder: Path, config: str) -> Path:
    """A folder for PATH with the real ssh in it, which reads this configuration.

    The advisor passes on no option for that, and ssh looks for the user's folder in the table of
    accounts, whatever HOME is.
    """
    wrapper = folder / "bin" / "ssh"
    wrapper.parent.mkdir()
    (folder / "config").write_text(config)
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/config "$@"\n')
    wrapper.chmod(0o755)
    return wrapper.parent


def several_names(server: SshServer) -> str:
    """Configuration of ssh for this server: `dtn`, and names with a wrong key or port, or no key
    of the host."""
    return f"""Host dtn
{server.login}
Host stranger
    HostName 127.0.0.1
    Port {server.port}
    User {getpass.getuser()}
    IdentityFile {server.folder}/host_key
    IdentitiesOnly yes
    UserKnownHostsFile {server.known_hosts}
Host unknown
    HostName 127.0.0.1
    Port {server.port}
    UserKnownHostsFile /dev/null
    GlobalKnownHostsFile /dev/null
Host nobody-home
    HostName 127.0.0.1
    Port {free_run(1, (0, 0), socket.AF_INET)}
"""
