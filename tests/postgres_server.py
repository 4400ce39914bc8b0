"""A PostgreSQL server for tests: in a temporary folder, without TCP, and not run by root.

Debian installs its programs where no PATH leads.
"""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import psycopg

from advisor.fleet.work import queue
from advisor.store.opening import open_shared
from advisor.store.postgres.backend import PostgresBackend
from advisor.store.postgres.schema import set_up

_PORT = 5432
_ACCOUNT = "nobody"
# Nothing has to outlive the machine; with a hundred databases a vacuum would begin twice a second.
_QUICK = ("fsync=off", "full_page_writes=off", "autovacuum=off")
OWNER = "owner"
"""The superuser."""


def programs() -> Path | None:
    """The folder of the server's programs, of the newest version; None without."""
    found = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if folder.is_dir()]
    if found:
        return max(found, key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


class PostgresServer:
    """A server in `folder`, which trusts whoever reaches its socket there."""

    def __init__(self, folder: Path, settings: Sequence[str] = _QUICK) -> None:
        """Nothing is started yet. `settings`: more of them, as NAME=VALUE."""
        found = programs()
        assert found is not None
        self._programs = found
        self.folder = folder
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        # Nobody can come to a folder of root's, which is what pytest makes.
        self._account = pwd.getpwnam(_ACCOUNT).pw_uid if os.geteuid() == 0 else None

    def make(self) -> None:
        """Make the databases' files."""
        folder = self.folder / "data"
        folder.mkdir(mode=0o700)
        for path in (self.folder, folder):
            if self._account is not None:
                os.chown(path, self._account, -1)
        words = ["--auth=trust", f"--username={OWNER}", "--encoding=UTF8", "--locale=C"]
        self._run("initdb", *words, "--no-sync", "--no-instructions", "-D", str(folder))

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = [
            "listen_addresses=",
            f"unix_socket_directories={self.folder}",
            "dynamic_shared_memory_type=mmap",
            "max_connections=200",
            *self._settings,
        ]
        words = [word for setting in settings for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self.folder / "data"), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                user=self._account,
                extra_groups=None if self._account is None else [],
            )
        until_s = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.address(OWNER, "postgres"), connect_timeout=10).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until_s or self._process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)

    def stop(self, *, keeps_data: bool = True) -> None:
        """Stop it; connections end."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGINT if keeps_data else signal.SIGQUIT)
            process.wait(timeout=60)

    def kill(self) -> None:
        """Kill every process of it at once, as a crash does."""
        process, self._process = self._process, None
        assert process is not None
        for pid in [process.pid, *_children(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(timeout=60)

    def suspend(self, *, on: bool) -> None:
        """Let it hang, or go on."""
        assert self._process is not None
        number = signal.SIGSTOP if on else signal.SIGCONT
        for pid in [self._process.pid, *_children(self._process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def address(self, user: str, database: str) -> str:
        """The address of a database as a user has it."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={_PORT}"

    def execute(self, database: str, *statements: str) -> None:
        """Run statements as the superuser."""
        with psycopg.connect(self.address(OWNER, database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def has_database(self, name: str) -> bool:
        with psycopg.connect(self.address(OWNER, "postgres")) as connection:
            question = "SELECT FROM pg_database WHERE datname = %s"
            return connection.execute(question, (name,)).fetchone() is not None

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            [str(self._programs / program), *words],
            check=True,
            capture_output=True,
            cwd="/",
            user=self._account,
            extra_groups=None if self._account is None else [],
        )


class SharedDatabase(NamedTuple):
    """A database with an empty shared history.

    alice and bob may write, rita may read, and olga operates it.
    """

    server: PostgresServer
    name: str

    def address(self, user: str) -> str:
        return self.server.address(user, self.name)

    def backend(self, user: str, limit_s: float = 60.0) -> PostgresBackend:
        """The history as a user has it; no test waits for a slow machine's answer in vain."""
        return open_shared(self.address(user), limit_s)

    def execute(self, *statements: str) -> None:
        self.server.execute(self.name, *statements)


_USERS = {"alice": "writer", "bob": "writer", "rita": "reader", "olga": "operator"}
_TEMPLATE = "history"
_numbers = itertools.count()


def shared_database(server: PostgresServer) -> SharedDatabase:
    """A new one on this server."""
    if not server.has_database(_TEMPLATE):
        _make(SharedDatabase(server, _TEMPLATE))
    made = SharedDatabase(server, f"{_TEMPLATE}{next(_numbers)}")
    server.execute("postgres", f"CREATE DATABASE {made.name} TEMPLATE {_TEMPLATE}")
    return made


def _make(template: SharedDatabase) -> None:
    template.server.execute("postgres", f"CREATE DATABASE {template.name}")
    with psycopg.connect(template.address(OWNER)) as connection:
        set_up(connection)
        queue.set_up(connection)
        for user, role in _USERS.items():
            connection.execute(f"CREATE ROLE {user} LOGIN IN ROLE advisor_{role}")


@contextlib.contextmanager
def temporary_server(settings: Sequence[str] = _QUICK) -> Iterator[PostgresServer]:
    """A server that runs in the block."""
    # Not pytest's folder: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        server = PostgresServer(Path(folder), settings)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop(keeps_data=False)


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
