"""The lab, the database and the workers of the bench, and what can be done to each of them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from advisor.fleet.demo.database import READER, WORKER, address_of, set_up
from advisor.fleet.demo.network import fleet_toml, host_names, lab_plan
from advisor.fleet.demo.place import LAB, own_place
from advisor.fleet.demo.workers import worker_argv
from advisor.lab.control import tell
from advisor.lab.lifecycle import bring_up
from advisor.lab.messages import Cut
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address
from advisor.store.postgres.own_server import OwnServer
from tests.benchmarks.wan.hosts import ROOT, Trouble

_DATABASE_BYTES = 2 * 2**30
_SPOOL_BYTES = 64 * 2**20
# What it writes ahead is bounded, since it is in memory.
_SETTINGS = ("max_wal_size=96MB", "min_wal_size=32MB")
_BACK_S = 600.0
_TRIES = 100
_STOP_S = 60.0


class Disk:
    """A file system of its own, which can be filled to the last byte and emptied again."""

    def __init__(self, place: Path, size_bytes: int) -> None:
        self._place = place
        self._size_bytes = size_bytes
        place.mkdir(mode=0o700)
        self._mount("-t", "tmpfs", "-o", f"size={size_bytes},mode=0700", "advisor")

    def fill(self) -> None:
        """Leave no space."""
        for _ in range(_TRIES):
            found = os.statvfs(self._place)
            used_bytes = (found.f_blocks - found.f_bfree) * found.f_frsize
            # Refused where more was written meanwhile.
            with contextlib.suppress(subprocess.CalledProcessError):
                self._mount("-o", f"remount,size={max(used_bytes, found.f_frsize)}")
                return
        raise Trouble(f"{self._place} cannot be filled")

    def empty(self) -> None:
        """Leave as much space as there was."""
        self._mount("-o", f"remount,size={self._size_bytes}")

    def _mount(self, *words: str) -> None:
        subprocess.run(["mount", *words, str(self._place)], check=True, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", str(self._place)], check=True)


class Site:
    """Everything, in a folder. `acknowledged`: what workers have noted."""

    def __init__(self, folder: Path, hosts: int, workers: int) -> None:
        self.hosts = host_names(hosts)
        self.acknowledged = folder / "acknowledged"
        self.acknowledged.mkdir(mode=0o700)
        self._logs = folder / "logs"
        self._logs.mkdir(mode=0o700)
        self._own = folder / "worker"
        self.disk = Disk(folder / "database", _DATABASE_BYTES)
        self.spool_disk = Disk(self._own, _SPOOL_BYTES)
        self.server = OwnServer(folder / "database", _SETTINGS)
        self._at_once = max(1, hosts // 2 // workers)
        self._number = 0
        self.workers: list[subprocess.Popen[bytes]] = []

    def begin(self, workers: int) -> None:
        """Everything is at work when this returns."""
        self.server.make()
        self.server.start()
        description = fleet_toml(LAB, self.hosts, every="10min", budget="8s", retry="20s")
        set_up(self.server, description)
        bring_up(LAB, lab_plan(self.hosts))
        for _ in range(workers):
            self.start_worker()

    @property
    def address(self) -> Address:
        """Of the database, as a reader has it."""
        return address_of(self.server, READER)

    @property
    def workers_address(self) -> Address:
        """Of the database, as workers have it."""
        return address_of(self.server, WORKER)

    def start_worker(self) -> None:
        """One more worker."""
        noting = (sys.executable, "-m", "tests.benchmarks.fleet.unattended.worker")
        program = (*noting, str(self.acknowledged))
        argv = worker_argv(self.workers_address, self._own, self._at_once, program)
        self._number += 1
        with (self._logs / str(self._number)).open("ab") as log:
            # Their input is a pipe to this process: they end with it.
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=ROOT,
            )
        self.workers.append(process)

    def kill_worker(self, number: int) -> None:
        """As kill -9 does: it has no time for anything."""
        process = self.workers.pop(number)
        with process:
            os.killpg(process.pid, signal.SIGKILL)

    def have_database(self) -> None:
        """Start the database again, unless it answers. Raises Trouble."""
        until_s = time.monotonic() + _BACK_S
        while not self.server.answers():
            if time.monotonic() > until_s:
                raise Trouble("the database does not come back")
            self.server.kill()
            with contextlib.suppress(StoreError):
                self.server.start()

    def cut(self, host: str, *, on: bool) -> None:
        """Take a host off the network, or back."""
        tell(LAB, Cut(is_cut=on, host=host))

    def stop_workers(self) -> None:
        """As Ctrl-C does."""
        for process in self.workers:
            process.send_signal(signal.SIGTERM)
        for process in self.workers:
            with process:
                try:
                    process.wait(_STOP_S)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                assert process.stdin is not None
                process.stdin.close()
        self.workers.clear()

    def environment(self) -> dict[str, str]:
        """That in which `advisor` finds the spool of the workers."""
        return os.environ | {"XDG_STATE_HOME": str(self._own / "state")}

    def close(self) -> None:
        self.stop_workers()
        self.server.stop()
        for disk in (self.disk, self.spool_disk):
            disk.close()


@contextlib.contextmanager
def site(hosts: int, workers: int) -> Iterator[Site]:
    """A site at work for the block."""
    with own_place() as folder:
        one = Site(folder, hosts, workers)
        try:
            one.begin(workers)
            yield one
        finally:
            one.close()
