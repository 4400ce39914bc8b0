"""A GridFTP server that can be killed, and started again at the same port."""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from advisor.hosts.free_ports import free_run
from advisor.hosts.processes import server_bound_to_stdin
from tests.soak.runs import kill

_ADDRESS: Final = "127.0.0.1"
_START_S: Final = 20.0
_STORED: Final = re.compile(
    r" FILE=(?P<path>.*) BUFFER=.* NBYTES=(?P<bytes>\d+) .* TYPE=(?:STOR|ESTO) "
)


class KillableServer:
    """Anyone on this host may use it while its block lasts, unless it is killed.

    Started by root it works as `nobody`. `folder`: what it gives access to.
    """

    def __init__(self, base: Path) -> None:
        """`base`: an empty folder that every account can get to."""
        self.folder = base / "offered"
        self._log = base / "server.log"
        # Below the ports of outgoing connections: no other program has it when it starts again.
        first = random.randrange(20000, 32000)
        self._port = free_run(1, (first, 32767), socket.AF_INET)
        self._process: subprocess.Popen[bytes] | None = None
        self.folder.mkdir()
        if os.geteuid() == 0:
            os.chown(self.folder, pwd.getpwnam("nobody").pw_uid, -1)

    def __enter__(self) -> KillableServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        return f"ftp://{_ADDRESS}:{self._port}"

    def start(self) -> None:
        """Where it was before. Raises RuntimeError."""
        account = ["-anonymous-user", "nobody"] if os.geteuid() == 0 else []
        argv = ["globus-gridftp-server", "-p", str(self._port), "-allow-anonymous", *account]
        argv += ["-hostname", _ADDRESS, "-control-interface", _ADDRESS]
        argv += ["-log-level", "ERROR,WARN,TRANSFER", "-logfile", str(self._log)]
        argv += ["-restrict-paths", f"RW{self.folder}"]
        deadline_s = time.monotonic() + _START_S
        while not self._answers():
            if time.monotonic() > deadline_s:
                raise RuntimeError("the GridFTP server does not start: see that it is installed")
            if self._process is None or self._process.poll() is not None:
                # A connection of the one before may hold the port for a moment.
                self._process = subprocess.Popen(
                    server_bound_to_stdin(argv),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            with socket.create_connection((_ADDRESS, self._port), 1.0) as connection:
                return connection.recv(3) == b"220"
        except OSError:
            return False

    def kill(self) -> None:
        """End it and all its connections at once, as a machine that goes down does."""
        if self._process is None:
            return
        with self._process as process:
            children = _children(process.pid, recursive=True)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            kill(children)
        self._process = None

    def kill_connections(self) -> None:
        """End the processes that serve a connection each; the one that listens stays."""
        if self._process is not None:
            for of_shell in _children(self._process.pid):
                kill(_children(of_shell.pid))

    def received_bytes(self, below: Path) -> int:
        """What its log says that it wrote into files below this folder, or into this file."""
        root = str(below)
        return sum(
            size for path, size in self._stored() if path == root or path.startswith(f"{root}/")
        )

    def _stored(self) -> Iterator[tuple[str, int]]:
        with self._log.open(errors="replace") as log:
            for line in log:
                if match := _STORED.search(line):
                    yield match["path"], int(match["bytes"])


def _children(pid: int, *, recursive: bool = False) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=recursive)
    return []
