"""Databases for tests, on a server of PostgreSQL in a temporary folder."""

import contextlib
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import psycopg

from advisor.fleet.work import queue
from advisor.store.opening import open_shared
from advisor.store.postgres.backend import PostgresBackend
from advisor.store.postgres.own_server import OWNER, OwnServer
from advisor.store.postgres.schema import set_up

# Nothing has to outlive the machine; with a hundred databases a vacuum would begin twice a second.
_QUICK = ("fsync=off", "full_page_writes=off", "autovacuum=off")


class SharedDatabase(NamedTuple):
    """A database with an empty shared history.

    alice and bob may write, rita may read, and olga operates it.
    """

    server: OwnServer
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


def shared_database(server: OwnServer) -> SharedDatabase:
    """A new one on this server."""
    if not _has_database(server, _TEMPLATE):
        _make(SharedDatabase(server, _TEMPLATE))
    made = SharedDatabase(server, f"{_TEMPLATE}{next(_numbers)}")
    server.execute("postgres", f"CREATE DATABASE {made.name} TEMPLATE {_TEMPLATE}")
    return made


def _has_database(server: OwnServer, name: str) -> bool:
    with psycopg.connect(server.address(OWNER, "postgres")) as connection:
        question = "SELECT FROM pg_database WHERE datname = %s"
        return connection.execute(question, (name,)).fetchone() is not None


def _make(template: SharedDatabase) -> None:
    template.server.execute("postgres", f"CREATE DATABASE {template.name}")
    with psycopg.connect(template.address(OWNER)) as connection:
        set_up(connection)
        queue.set_up(connection)
        for user, role in _USERS.items():
            connection.execute(f"CREATE ROLE {user} LOGIN IN ROLE advisor_{role}")


@contextlib.contextmanager
def temporary_server(settings: Sequence[str] = _QUICK) -> Iterator[OwnServer]:
    """A server that runs in the block."""
    # Not pytest's folder: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        server = OwnServer(Path(folder), settings)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop(keeps_data=False)
