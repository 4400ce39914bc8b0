"""Epochs that several destinations have in common, on a clock that only counts."""

from collections.abc import Callable

import pytest

from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.shared.epochs import SharedEpoch, SharedEpochs
from tests.virtual_clock import VirtualClock

MIB = 2**20
EPOCH_S = 90.0
STEP_S = 0.5


class Destination:
    """One whose clients move this many bytes a second each, and end a piece when asked to."""

    def __init__(self, name: str, client_bps: float, size_bytes: int = 2**40) -> None:
        self.group: FileGroup | None = FileGroup(name, [FileEntry(name, size_bytes, 0)])
        self._client_bps = client_bps
        self._concurrency = 0
        self.parallelism = 1

    @property
    def is_served(self) -> bool:
        return self.group is not None and not self.group.is_over

    @property
    def concurrency(self) -> int:
        return self._concurrency

    @concurrency.setter
    def concurrency(self, level: int) -> None:
        assert self.group is not None
        self._concurrency = self.group.concurrency = level

    @property
    def clients(self) -> set[Client]:
        return self.group.clients if self.group else set()

    @property
    def carried_bytes(self) -> int:
        return self.group.carried_bytes if self.group else 0

    def start(self) -> None:
        """As many clients as are wanted."""
        assert self.group is not None
        while len(self.group.clients) < self._concurrency:
            batch = self.group.work.draw(MIB, 1)
            assert batch is not None
            self.group.clients.add(Client(batch, 0.1, 60, lambda _: None))

    def move(self, passed_s: float) -> None:
        for client in self.clients:
            client.moved_bytes += round(self._client_bps / 8 * passed_s)


class Course(VirtualClock):
    """The time in which destinations move data, and other things happen `at` a time."""

    def __init__(self, *destinations: Destination) -> None:
        super().__init__()
        self._moving = list(destinations)
        self._later: dict[float, Callable[[], object]] = {}

    def at(self, when_s: float, happens: Callable[[], object]) -> None:
        self._later[when_s] = happens

    def step(self) -> None:
        self.now_s += STEP_S
        for one in self._moving:
            one.move(STEP_S)
        self._later.pop(self.now_s, lambda: None)()

    def epochs(self, *destinations: Destination, rtt_s: float = 0.0) -> SharedEpochs:
        return SharedEpochs(
            {one.group.name: one for one in destinations if one.group},
            EPOCH_S,
            rtt_s,
            clock=self.clock,
            wait_until=self.until,
        )


async def seen(epochs: SharedEpochs) -> SharedEpoch:
    found = await epochs.next()
    assert found is not None
    return found


def serve(epochs: SharedEpochs, *destinations: Destination, level: int = 2) -> None:
    """That many files to each, of which none has moved data."""
    epochs.set({one.group.name: level for one in destinations if one.group})
    for one in destinations:
        one.start()


@pytest.mark.asyncio
async def test_each_gets_its_own_rate_over_the_same_time() -> None:
    a, b = Destination("a", 80e6), Destination("b", 40e6)
    epochs = Course(a, b).epochs(a, b)
    serve(epochs, a, b)
    epoch = await seen(epochs)
    assert epoch.concurrencies == {"a": 2, "b": 2}
    assert epoch.is_whole
    assert epoch.rates_bps == {"a": 160e6, "b": 80e6}


@pytest.mark.asyncio
async def test_who_vanishes_ends_the_epoch_which_then_counts_for_nothing() -> None:
    a, b = Destination("a", 80e6), Destination("b", 40e6)
    course = Course(a, b)
    epochs = course.epochs(a, b)
    serve(epochs, a, b)
    course.at(EPOCH_S / 2, lambda: setattr(b, "group", None))
    assert not (await seen(epochs)).is_whole
    assert course.now_s == EPOCH_S / 2
    second = await seen(epochs)
    assert second.concurrencies == {"a": 2}
    assert second.is_whole


@pytest.mark.asyncio
async def test_where_the_work_runs_out_nothing_is_learnt_of_the_concurrency() -> None:
    a = Destination("a", 1e6, size_bytes=8 * MIB)
    epochs = Course(a).epochs(a)
    serve(epochs, a)
    assert not (await seen(epochs)).is_whole


@pytest.mark.asyncio
async def test_nobody_is_served() -> None:
    gone = Destination("a", 1e6)
    epochs = Course().epochs(gone)
    gone.group = None
    assert await epochs.next() is None


@pytest.mark.asyncio
async def test_with_fewer_files_and_the_same_streams_only_the_surplus_is_waited_for() -> None:
    a = Destination("a", 80e6)
    course = Course(a)
    epochs = course.epochs(a)
    serve(epochs, a, level=3)
    a.move(STEP_S)
    epochs.set({"a": 2})
    course.at(10.0, a.clients.pop)
    assert (await seen(epochs)).counted_s == EPOCH_S - 10.0


@pytest.mark.asyncio
async def test_an_epoch_counts_once_all_files_that_are_wanted_have_begun() -> None:
    a = Destination("a", 80e6)
    course = Course(a)
    epochs = course.epochs(a)
    serve(epochs, a, level=1)
    epochs.set({"a": 3})
    course.at(30.0, a.start)
    assert (await seen(epochs)).counted_s == EPOCH_S - 30.0 - STEP_S


@pytest.mark.asyncio
async def test_after_a_change_flows_settle_before_an_epoch_counts() -> None:
    a = Destination("a", 80e6)
    epochs = Course(a).epochs(a, rtt_s=0.13)
    counted_s = []
    for level in (1, 1, 2):
        serve(epochs, a, level=level)
        a.move(STEP_S)
        counted_s.append((await seen(epochs)).counted_s)
    assert counted_s == [77.0, 90.0, 77.0]


@pytest.mark.asyncio
async def test_what_clients_of_before_still_move_does_not_count() -> None:
    a = Destination("a", 80e6)
    course = Course(a)
    epochs = course.epochs(a)
    serve(epochs, a)
    old = set(a.clients)

    def end_the_old() -> None:
        a.clients.difference_update(old)
        file = FileEntry("a", MIB, 0)
        a.clients.add(Client(Batch((Part(file, 0, MIB),)), 0.1, 60, lambda _: None))

    epochs.set({"a": 1}, {"a": 2})
    course.at(30.0, end_the_old)
    epoch = await seen(epochs)
    assert epoch.concurrencies == {"a": 1}
    assert epoch.counted_s == EPOCH_S - 30.0 - STEP_S
