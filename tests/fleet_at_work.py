"""A fleet whose sessions are prepared lines, and workers as processes of their own.

    python -m tests.fleet_at_work ADDRESS FOLDER AT_ONCE

is a worker as `advisor fleet work` is, but for the line that it starts.
"""

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import psycopg
import pytest

from advisor.domain import events as ev
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.plan import NodeProgress
from advisor.domain.records import ProbeRecord
from advisor.fleet.nodes.queue import LotQueue
from advisor.fleet.plan.fleet import Fleet, Task
from advisor.fleet.state.changing import apply
from advisor.fleet.work import measuring
from advisor.fleet.work.ordering import Order
from advisor.fleet.work.queue import Queue
from advisor.fleet.work.worker import Worker
from advisor.report.output import say
from advisor.store.history import Store
from advisor.store.opening import open_shared
from advisor.store.postgres.address import Address
from tests.postgres_server import SharedDatabase

_SESSION = Path(__file__).with_name("fleet_session.py")
_ROOT = Path(__file__).parent.parent

OWN_SESSION = "OWN_SESSION"
"""In place of the id of a session, which is another one each time that it runs."""


@contextlib.contextmanager
def transfer_over(database: SharedDatabase, *nodes: tuple[str, str]) -> Iterator[None]:
    """Another user's transfer over these nodes, known to the database until the block ends."""
    pair = Pair("here", "there")
    progress = [
        NodeProgress(number=number, pair=Pair(*one), state="moving")
        for number, one in enumerate(nodes, 1)
    ]

    async def begun(queue: LotQueue) -> None:
        await queue.begin("a" * 64, pair, [10])
        await queue.show(progress)

    async def ended(queue: LotQueue) -> None:
        await queue.end("complete")
        await queue.close()

    queue = LotQueue(Address(database.address("bob")))
    with asyncio.Runner() as runner:
        runner.run(begun(queue))
        try:
            yield
        finally:
            runner.run(ended(queue))


def described(*hosts: str, task: str = "", limits: str = "") -> str:
    """`fleet.toml` for a mesh of these hosts."""
    tables = "".join(f'[hosts.{name}]\nbandwidth = "1Gbit"\n' for name in hosts)
    measured = '[measure.mesh]\nwhat = "advice"\nbetween = "mesh"\nevery = "1d"\nbudget = "30s"\n'
    return f'[limits]\nshare-per-day = "100%"\n{limits}\n{tables}{measured}{task}'


class Prepared(NamedTuple):
    """The folder with the lines of sessions."""

    folder: Path

    def pair(self, source: str, destination: str, rate_bps: float = 5e8) -> None:
        """A session of this pair that reaches this rate; the second of its records comes late."""
        lines = [_probe(source, destination, at_s, rate_bps) for at_s in (1000.0, 1001.0)]
        started = ev.ProbeStarted(
            at_s=0, ordinal=1, stage="tcp", purpose="search", subject="tcp", setting={}
        )
        name = f"{source}.{destination}"
        (self.folder / f"before.{name}").write_text(_line(started) + _line(lines[0]))
        (self.folder / f"after.{name}").write_text(_line(lines[1]))

    def says(self, source: str, destination: str, *events: ev.AnyEvent, code: int = 1) -> None:
        """A session of this pair that has only these events, and ends so."""
        name = f"{source}.{destination}"
        (self.folder / f"before.{name}").write_text("".join(map(_line, events)))
        (self.folder / f"after.{name}").write_text("")
        (self.folder / f"code.{name}").write_text(str(code))

    def lasting(self, seconds: float) -> None:
        """How long sessions take."""
        (self.folder / "seconds").write_text(str(seconds))

    def spans(self) -> list[tuple[str, str, float, float]]:
        """Source, destination, begin and end of each session that has ended."""
        open_ones: dict[str, tuple[str, str, float]] = {}
        found = []
        log = self.folder / "log"
        for line in log.read_text().splitlines() if log.exists() else []:
            what, source, destination, at_s, pid = line.split()
            if what == "began":
                open_ones[pid] = source, destination, float(at_s)
            else:
                found.append((*open_ones.pop(pid), float(at_s)))
        return found


def _line(one: object) -> str:
    return msgspec.json.encode(one).decode() + "\n"


def _probe(source: str, destination: str, recorded_s: float, rate_bps: float) -> ProbeRecord:
    return ProbeRecord(
        pair=Pair(source, destination),
        subject="tcp",
        setting={"streams": 4},
        result=Measurement(
            throughput_bps=rate_bps,
            stderr_bps=rate_bps / 50,
            intervals=[Interval(0.0, 0.5, int(rate_bps / 16))],
            steady_from=0,
            settled=True,
            elapsed_s=0.5,
        ),
        recorded_s=recorded_s,
        session=OWN_SESSION,
    )


def prepared_order(folder: Path) -> Callable[[Fleet, Task, int, int], Order]:
    """In place of ordering.order_of."""

    def order(fleet: Fleet, task: Task, source: int, destination: int) -> Order:
        ends = [fleet.hosts[n] for n in (source, destination)]
        names = [one.name for one in ends]
        seconds = (folder / "seconds").read_text()
        argv = [sys.executable, "-I", "-S", str(_SESSION), str(folder), *names, seconds]
        reached = [Endpoint.parse(one.reach) for one in ends]
        return Order(argv, *reached, "", task.what != "path")

    return order


class AtWork:
    """A fleet in a database, with its workers."""

    def __init__(self, database: SharedDatabase, folder: Path) -> None:
        self.database = database
        self.prepared = Prepared(folder)
        self._workers: list[subprocess.Popen[bytes]] = []

    def describe(self, content: str) -> None:
        with psycopg.connect(self.database.address("olga"), autocommit=True) as connection:
            apply(connection, content)

    def start(self, at_once: int = 4, user: str = "alice") -> subprocess.Popen[bytes]:
        words = [self.database.address(user), str(self.prepared.folder), str(at_once)]
        with (self.prepared.folder / "reports").open("ab") as log:
            self._workers.append(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.fleet_at_work", *words],
                    cwd=_ROOT,
                    stdin=subprocess.DEVNULL,
                    stderr=log,
                )
            )
        return self._workers[-1]

    def rows(self, table: str, columns: str, rest: str = "") -> list[tuple[object, ...]]:
        with psycopg.connect(self.database.address("rita")) as connection:
            found = connection.execute(f"SELECT {columns} FROM advisor.fleet_{table} {rest}")
            return found.fetchall()

    def log_text(self) -> str:
        return (self.prepared.folder / "reports").read_text()

    def close(self) -> None:
        for worker in self._workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        for worker in self._workers:
            with worker:
                try:
                    worker.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    worker.kill()


@contextlib.contextmanager
def fleet_at_work(database: SharedDatabase, folder: Path) -> Iterator[AtWork]:
    """A fleet for a block; its workers are stopped after it."""
    folder.mkdir(exist_ok=True)
    one = AtWork(database, folder)
    one.prepared.lasting(0.2)
    try:
        yield one
    finally:
        one.close()


async def _work(address: str, folder: Path, at_once: int) -> None:
    worker = Worker(
        Address.parse(address),
        lambda: Store(open_shared(address, 60.0)),
        lambda line: say(line, err=True),
        frozenset(),
    )
    await asyncio.to_thread(worker.register)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stopping.set)
    staying = asyncio.create_task(worker.stay_known())
    await Queue(worker.address, worker.turn, at_once, worker.stopping).work()
    await staying


def main(address: str, folder: str, at_once: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "order_of", prepared_order(Path(folder)))
        asyncio.run(_work(address, Path(folder), int(at_once)))


if __name__ == "__main__":
    main(*sys.argv[1:])
