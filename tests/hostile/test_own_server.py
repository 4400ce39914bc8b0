"""A PostgreSQL server of our own: who reaches it, and that it never outlives its program."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from advisor.store.postgres.own_server import OWNER, OwnServer, programs
from tests.postgres_server import temporary_server

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(programs() is None, reason="needs PostgreSQL: apt-get install postgresql"),
]
AS_NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--")
STARTED = """
import sys, time
from pathlib import Path
from advisor.store.postgres.own_server import OwnServer
server = OwnServer(Path(sys.argv[1]), ("fsync=off",))
server.make()
server.start()
print("started", flush=True)
time.sleep(600)
"""


@pytest.fixture
def server() -> Iterator[OwnServer]:
    with temporary_server() as one:
        yield one


def test_the_folder_is_its_own_alone_and_it_is_not_root(server: OwnServer) -> None:
    for place in (server.folder, server.folder / "data"):
        found = place.stat()
        assert stat.S_IMODE(found.st_mode) == 0o700
        assert found.st_uid != 0


@pytest.mark.as_root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another account")
def test_another_account_does_not_get_to_the_socket(server: OwnServer) -> None:
    address = server.address(OWNER, "postgres")
    psycopg.connect(address).close()
    done = subprocess.run(
        [*AS_NOBODY, "psql", address, "-c", "SELECT 1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd="/",
    )
    assert done.returncode != 0
    assert "Permission denied" in done.stderr, done.stderr


def test_it_listens_on_its_socket_only(server: OwnServer) -> None:
    with psycopg.connect(server.address(OWNER, "postgres")) as connection:
        [row] = connection.execute(
            "SELECT current_setting('listen_addresses'), current_setting('unix_socket_directories')"
        )
    assert row == ("", str(server.folder))


def test_it_ends_with_whoever_started_it() -> None:
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        started = subprocess.Popen(
            [sys.executable, "-c", STARTED, name], stdout=subprocess.PIPE, text=True
        )
        with started:
            assert started.stdout is not None
            assert started.stdout.readline() == "started\n"
            pid = int((Path(name) / "data" / "postmaster.pid").read_text().split()[0])
            started.send_signal(signal.SIGKILL)
        until_s = time.monotonic() + 60
        while _runs(pid):
            assert time.monotonic() < until_s
            time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
