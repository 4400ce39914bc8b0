"""A demonstration at work: its lab, its database and its workers, all ended with the block."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import msgspec

from advisor.fleet.demo.database import READER, WORKER, address_of, set_up
from advisor.fleet.demo.network import fleet_toml, host_names, lab_plan
from advisor.fleet.demo.place import LAB, own_place
from advisor.fleet.demo.workers import worker_argv
from advisor.fleet.state import reading
from advisor.fleet.state.connecting import connected
from advisor.fleet.state.rows import Attempt
from advisor.fleet.state.standing import PairStanding, pairs_of
from advisor.hosts.processes import Child, start
from advisor.lab.lifecycle import bring_up
from advisor.store.postgres.address import Address
from advisor.store.postgres.own_server import OwnServer

_EVERY: Final = "10min"
_BUDGET: Final = "8s"
_RETRY: Final = "30s"
# Nobody misses what is lost with the machine.
_SETTINGS: Final = ("fsync=off",)
_STOP_S: Final = 15.0

Tell = Callable[[str], None]


class DemoView(msgspec.Struct, frozen=True):
    """How it stands: every pair, and what runs. Times in Unix time."""

    now_s: float
    pairs: list[PairStanding]
    running: list[Attempt]

    @property
    def measured(self) -> int:
        """How many pairs were measured once or more."""
        return sum(one.last_s is not None for one in self.pairs)


class Demo:
    """A fleet at work. `address`: of its database, as a reader has it."""

    def __init__(self, address: Address, workers: Sequence["asyncio.Task[None]"]) -> None:
        self.address = address
        self._workers = workers

    @property
    def works(self) -> bool:
        """Whether any worker is left."""
        return not all(worker.done() for worker in self._workers)

    async def view(self) -> DemoView:
        """How it stands now. Raises StoreError."""
        return await asyncio.to_thread(self._view)

    def _view(self) -> DemoView:
        with connected(self.address) as connection:
            state = reading.fleet_state(connection)
        return DemoView(state.now_s, list(pairs_of(state)), state.running)


@contextlib.asynccontextmanager
async def demo_at_work(hosts: int, workers: int, tell: Tell) -> AsyncIterator[Demo]:
    """A mesh of this many hosts that is measured by this many workers for the block.

    `tell`: called with each line that a worker says. Raises StoreError, LabError, psycopg.Error.
    """
    names = host_names(hosts)
    with own_place() as folder:
        for own in ("database", "worker"):
            (folder / own).mkdir(mode=0o700)
        server = OwnServer(folder / "database", _SETTINGS)
        try:
            await asyncio.to_thread(_prepare, server, names)
            # Each host measures with one other at a time.
            at_once = max(1, hosts // 2 // workers)
            argv = worker_argv(address_of(server, WORKER), folder / "worker", at_once)
            async with _working(argv, workers, tell) as tasks:
                yield Demo(address_of(server, READER), tasks)
        finally:
            await asyncio.to_thread(server.stop)


def _prepare(server: OwnServer, names: Sequence[str]) -> None:
    server.make()
    server.start()
    set_up(server, fleet_toml(LAB, names, every=_EVERY, budget=_BUDGET, retry=_RETRY))
    bring_up(LAB, lab_plan(names))


@contextlib.asynccontextmanager
async def _working(
    argv: Sequence[str], number: int, tell: Tell
) -> AsyncIterator[list["asyncio.Task[None]"]]:
    children: list[Child] = []
    tasks: list[asyncio.Task[None]] = []
    try:
        for _ in range(number):
            children.append(await start(argv))
            tasks.append(asyncio.create_task(_follow(children[-1], tell)))
        yield tasks
    finally:
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                child.send(signal.SIGTERM)
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_S)
        for child, task in zip(children, tasks, strict=False):
            await child.end()
            task.cancel()


async def _follow(child: Child, tell: Tell) -> None:
    while line := await child.stdout.readline():
        tell(line.decode(errors="replace").rstrip().removeprefix("advisor: "))
