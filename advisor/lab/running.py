"""A running lab: its commands and its status."""

import asyncio
import logging
import time
from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from advisor.lab import messages as m
from advisor.lab.backend import Backend, BackendChoice
from advisor.lab.external_load import ExternalLoad
from advisor.lab.networks import Network, NetworkError
from advisor.lab.paths import BadPath, Direction, EmulatedPath, changed
from advisor.lab.state import LabError, LabFolder

SOURCE_NAME: Final = "source"
SOURCE_ADDRESS: Final = "10.77.0.1"
_LOG: Final = logging.getLogger(__name__)


class LabOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What to build. `own`: the source's own interface, None for one without a limit.

    `mesh`: whether the far hosts reach each other as well.

    `program`: our own emulator; empty if it could not be compiled. `outside`: the network namespace
    of the calling process, which must not be changed.
    """

    name: str
    mark: str
    outside: int
    program: str
    user_namespace: bool
    hosts: dict[str, EmulatedPath]
    mesh: bool = False
    own: Direction | None = None
    seed: int = 0
    steps: list[m.ScheduledStep] = []
    backend: BackendChoice = "auto"


def require_known_hosts(
    name: str, hosts: Collection[str], steps: Iterable[m.ScheduledStep]
) -> None:
    """Raises LabError when a schedule names a host that the lab does not have."""
    for step in steps:
        for action in step.actions:
            if action.host is not None:
                _require_host(name, hosts, action.host)


def _require_host(name: str, hosts: Collection[str], host: str) -> None:
    if host not in hosts:
        raise LabError(f"lab {name} has no host '{host}': {', '.join(hosts)}")


def address_of(number: int) -> str:
    """The address of a far host, numbered from 1."""
    return f"10.77.{number}.1"


class Lab:
    """A running lab. Made by `built`."""

    def __init__(self, order: LabOrder, backend: Backend, networks: list[Network]) -> None:
        self._order = order
        self._backend = backend
        self._networks = networks
        self._names = list(order.hosts)
        self._paths = list(order.hosts.values())
        self._cut = [False for _ in self._names]
        self._load = ExternalLoad()
        self._began_s = time.monotonic()
        self._play_began_s = 0.0
        self._steps: list[m.ScheduledStep] = []
        self._playing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self.urls: list[str | None] = [None for _ in self._names]
        self.without: list[str] = []

    @property
    def carriers(self) -> list[int]:
        """The processes that forward the packets."""
        return self._backend.carriers

    async def obey(self, order: m.LabCommand) -> m.LabStatus:
        """Run a command; return the status. Raises LabError, NetworkError, BadPath, OSError."""
        match order:
            case m.Play():
                # An action of the schedule that runs now is not cut off in the middle: the emulator
                # would still answer it.
                async with self._turn:
                    self._play(order.steps)
            case m.GetStatus():
                pass
            case _:
                async with self._turn:
                    await self._act(order)
        return await self.status()

    async def _act(self, action: m.Action) -> None:
        match action:
            case m.SetPath():
                for number in self._numbers(action.host):
                    path = changed(self._paths[number - 1], action.changes, action.which)
                    await self._backend.set_path(number, path)
                    self._paths[number - 1] = path
            case m.Cut():
                for number in self._numbers(action.host):
                    await self._backend.set_cut(number, action.is_cut)
                    self._cut[number - 1] = action.is_cut
            case m.SetLoad():
                number = self._numbers(action.host)[0]
                if action.transfers is not None:
                    await self._load.have_transfers(
                        action.transfers,
                        self._networks[0],
                        self._networks[number],
                        address_of(number),
                    )
                if action.compute is not None:
                    await self._load.have_compute(action.compute)

    def _numbers(self, host: str | None) -> list[int]:
        if host is None:
            return list(range(1, len(self._names) + 1))
        _require_host(self._order.name, self._names, host)
        return [self._names.index(host) + 1]

    def _play(self, steps: list[m.ScheduledStep]) -> None:
        require_known_hosts(self._order.name, self._names, steps)
        if self._playing is not None:
            self._playing.cancel()
        self._steps, self._play_began_s = list(steps), time.monotonic()
        self._playing = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        while self._steps:
            step = self._steps[0]
            await asyncio.sleep(max(0.0, self._play_began_s + step.at_s - time.monotonic()))
            for action in step.actions:
                try:
                    async with self._turn:
                        await self._act(action)
                except (LabError, NetworkError, BadPath) as error:
                    _LOG.warning("schedule, at %g s: %s", step.at_s, error)
                except OSError as error:
                    why = error.strerror or str(error) or "no answer in time"
                    _LOG.warning("schedule, at %g s: the lab could not do it: %s", step.at_s, why)
            self._steps.remove(step)

    async def status(self) -> m.LabStatus:
        """The status now. Raises NetworkError."""
        seen = await self._backend.crossings()
        gone_s = time.monotonic() - self._play_began_s
        has_own = self._order.own is not None
        folders = LabFolder(self._order.name)
        return m.LabStatus(
            name=self._order.name,
            backend=self._backend.name,
            user_namespace=self._order.user_namespace,
            up_s=time.monotonic() - self._began_s,
            source=SOURCE_ADDRESS,
            hosts=[
                m.HostStatus(
                    name=name,
                    address=address_of(number),
                    gridftp_url=self.urls[number - 1],
                    gridftp_folder=str(folders.files(name)) if self.urls[number - 1] else None,
                    path=self._paths[number - 1],
                    is_cut=self._cut[number - 1],
                    forward=seen.forward[number],
                    reverse=seen.reverse[number],
                )
                for number, name in enumerate(self._names, 1)
            ],
            transfers=self._load.transfers,
            compute=self._load.compute,
            schedule=[msgspec.structs.replace(s, at_s=s.at_s - gone_s) for s in self._steps],
            own=self._order.own,
            own_forward=seen.forward[0] if has_own else None,
            own_reverse=seen.reverse[0] if has_own else None,
            lateness=seen.lateness,
            without=self.without,
        )

    async def close(self) -> None:
        """End the schedule and the load."""
        if self._playing is not None:
            self._playing.cancel()
        await self._load.close()
