"""A Dask scheduler and workers on 127.0.0.1, as if begun by hand, and what uses them."""

import contextlib
import functools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from distributed import Client

LIMIT_S = 90.0
ADVISOR = [sys.executable, "-P", "-m", "advisor"]
BACKTEST = ["backtest", "synthetic:24", "--method", "bayes,spsa", "--seeds", "4", "--json"]
LONG = ["backtest", "synthetic:400", "--method", "bayes", "--seeds", "50", "--json"]


def begin(words: list[str], dask: str | None) -> subprocess.Popen[str]:
    more = [] if dask is None else ["--dask", dask]
    return subprocess.Popen(
        [*ADVISOR, *words, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_advisor(words: list[str], dask: str | None) -> tuple[int, str, str]:
    with begin(words, dask) as process:
        out, err = process.communicate()
    return process.returncode, out, err


class Cluster:
    """`workers`: by name, of one thread each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = ""
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.scheduler = self._start(
            "scheduler", "--host", "tcp://127.0.0.1", "--port", "0", "--dashboard-address", ":0"
        )
        log = folder / "scheduler.log"
        wait_until(lambda: "Scheduler at:" in log.read_text())
        line = next(one for one in log.read_text().splitlines() if "Scheduler at:" in one)
        self.address = line.split()[-1]

    def _start(self, what: str, *words: str, name: str = "") -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{what}"
        with (self._folder / f"{name or what}.log").open("wb") as log:
            argv = [sys.executable, "-m", module, *words, "--no-dashboard"]
            return subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)

    def add_worker(self, name: str) -> None:
        words = ["--host", "tcp://127.0.0.1", "--no-nanny", "--nthreads", "1", "--name", name]
        place = ["--local-directory", str(self._folder / name), "--memory-limit", "0"]
        process = self._start("worker", self.address, *words, *place, name=name)
        self.workers[name] = process

    @contextlib.contextmanager
    def client(self) -> Iterator[Client]:
        with Client(self.address, set_as_default=False) as client:
            yield client

    def close(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            process.kill()
            process.wait()


@contextlib.contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    made = Cluster(folder)
    try:
        for number in range(workers):
            made.add_worker(f"w{number}")
        if workers:
            with made.client() as client:
                client.wait_for_workers(workers, timeout=LIMIT_S)
        yield made
    finally:
        made.close()


def address_of(client: Client, name: str) -> str:
    """The address of the worker of that name."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return next(str(address) for address, one in workers.items() if one["name"] == name)


def wait_until(true: Callable[[], object]) -> None:
    until = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


@functools.cache
def without_dask() -> str:
    """What the backtest prints without --dask."""
    status, out, _ = run_advisor(BACKTEST, None)
    assert status == 0
    return out


def is_computing(client: Client, worker: str) -> bool:
    return bool(client.processing().get(worker))
