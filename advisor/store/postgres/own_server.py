"""A PostgreSQL server of our own, for a demonstration or a test: in a folder of its own, on a
socket there and nowhere else, and never as root.

It trusts whoever reaches the socket: the folder is private. Debian installs the programs where no
PATH leads. It ends with this process, however that ends: its standard input is closed then.
"""

import contextlib
import os
import pwd
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psycopg

from advisor.domain.printable import printable
from advisor.domain.problem import ProblemKind
from advisor.hosts.packages import installation
from advisor.hosts.processes import Daemon, command_bound_to_stdin
from advisor.store.errors import StoreError

OWNER: Final = "owner"
"""The superuser."""

_PORT: Final = 5432
_ACCOUNTS: Final = ("postgres", "nobody")
# Seconds, but on a busy machine minutes.
_MAKE_S: Final = 600.0
_START_S: Final = 300.0
_STOP_S: Final = 60.0
_LONGEST_SOCKET: Final = 107
_DEBIAN: Final = Path("/usr/lib/postgresql")
_SETTINGS: Final = (
    "listen_addresses=",
    "dynamic_shared_memory_type=mmap",
    "max_connections=200",
)


def programs() -> Path | None:
    """The folder of the server's programs, of the newest version; None without."""
    found = [folder for folder in _DEBIAN.glob("*/bin") if (folder / "postgres").exists()]
    if found:
        return max(found, key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


class OwnServer:
    """A server whose files are in `folder`, which exists and is this user's."""

    def __init__(self, folder: Path, settings: Sequence[str] = ()) -> None:
        """Nothing is started yet. `settings`: more of them, as NAME=VALUE.

        Raises StoreError where PostgreSQL is not installed, and for a folder too deep for a socket.
        """
        found = programs()
        if found is None:
            how = installation("postgresql")
            raise StoreError(
                "PostgreSQL is not installed",
                kind=ProblemKind.MISSING,
                remedy=how.remedy or how.command,
                command=how.command,
            )
        socket = folder / f".s.PGSQL.{_PORT}"
        if len(os.fsencode(socket)) > _LONGEST_SOCKET:
            raise StoreError(
                f"{folder} is too long a path for a socket",
                kind=ProblemKind.INVALID,
                remedy="choose a shorter folder for temporary files",
            )
        self.folder = folder
        self._programs = found
        self._settings = settings
        self._process: Daemon | None = None
        self._account = _account() if os.geteuid() == 0 else None

    def make(self) -> None:
        """Make the databases' files. Raises StoreError."""
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        for path in (self.folder, data):
            if self._account is not None:
                os.chown(path, self._account, -1)
            path.chmod(0o700)
        words = ["--auth=trust", f"--username={OWNER}", "--encoding=UTF8", "--locale=C"]
        process = self._started("initdb", *words, "--no-sync", "--no-instructions", "-D", str(data))
        if not process.wait(_MAKE_S):
            process.kill()
        if process.status:
            raise self._failed("its files cannot be made")

    def start(self) -> None:
        """Start it, and wait until it answers. Raises StoreError."""
        settings = [*_SETTINGS, f"unix_socket_directories={self.folder}", *self._settings]
        words = [word for setting in settings for word in ("-c", setting)]
        self._process = self._started("postgres", "-D", str(self.folder / "data"), *words)
        until_s = time.monotonic() + _START_S
        while not self.answers():
            if time.monotonic() > until_s or self._process.status is not None:
                self.kill()
                raise self._failed("it does not start")
            time.sleep(0.02)

    def stop(self, *, keeps_data: bool = True) -> None:
        """Stop it; connections end. Without its data it ends at once."""
        process, self._process = self._process, None
        if process is not None:
            process.send(signal.SIGINT if keeps_data else signal.SIGQUIT)
            if not process.wait(_STOP_S):
                process.kill()

    def kill(self) -> None:
        """Kill every process of it at once, as a crash does."""
        process, self._process = self._process, None
        if process is not None:
            self._signal(process, signal.SIGKILL)
            process.kill()

    def suspend(self, *, on: bool) -> None:
        """Let it hang, or continue."""
        assert self._process is not None
        self._signal(self._process, signal.SIGSTOP if on else signal.SIGCONT)

    def address(self, user: str, database: str) -> str:
        """The address of a database as a user has it."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={_PORT}"

    def execute(self, database: str, *statements: str) -> None:
        """Run statements as the superuser. Raises psycopg.Error."""
        with psycopg.connect(self.address(OWNER, database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def answers(self) -> bool:
        """Whether it can be connected to."""
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(self.address(OWNER, "postgres"), connect_timeout=10).close()
            return True
        return False

    def _started(self, program: str, *words: str) -> Daemon:
        """Raises StoreError."""
        argv = command_bound_to_stdin([str(self._programs / program), *words])
        try:
            return Daemon(argv, self._log, {}, self._account)
        except OSError as error:
            raise StoreError(f"{program} cannot be started: {error.strerror}") from None

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _failed(self, what: str) -> StoreError:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return StoreError(f"PostgreSQL: {what}: {printable(lines[-1]) if lines else 'no reason'}")

    @staticmethod
    def _signal(process: Daemon, number: int) -> None:
        for pid in [process.pid, *_children(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _account() -> int:
    """What runs it for root: the account of Debian's package, which has nothing else to do."""
    for name in _ACCOUNTS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    raise StoreError(
        "PostgreSQL does not run as root, and this host has no account 'postgres'",
        kind=ProblemKind.MISSING,
        remedy="begin it as an ordinary user",
    )


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
