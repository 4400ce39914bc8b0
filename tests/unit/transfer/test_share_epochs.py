"""Epochs that several destinations have in common."""

import asyncio
from collections.abc import Callable

import pytest

from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.shared.epochs import SharedEpoch, SharedEpochs

MIB = 2**20
EPOCH_S = 0.6


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
    def carried_bytes(self) -> int:
        return self.group.carried_bytes if self.group else 0

    def start(self) -> None:
        """As many clients as are wanted."""
        assert self.group is not None
        while len(self.group.clients) < self._concurrency:
            batch = self.group.work.draw(MIB, 1)
            assert batch is not None
            self.group.clients.add(Client(batch, 0.1, 60, lambda _: None))

    async def move(self) -> None:
        while True:
            await asyncio.sleep(0.02)
            for client in self.group.clients if self.group else ():
                client.moved_bytes += round(self._client_bps / 8 * 0.02)


async def epochs_of(*destinations: Destination, count: int = 1) -> list[SharedEpoch | None]:
    served = {d.group.name: d for d in destinations if d.group}
    epochs = SharedEpochs(served, EPOCH_S)
    epochs.set(dict.fromkeys(served, 2))
    for one in destinations:
        one.start()
    state = [asyncio.create_task(one.move()) for one in destinations]
    try:
        return [await epochs.next() for _ in range(count)]
    finally:
        for task in state:
            task.cancel()
        await asyncio.wait(state)


def test_each_gets_its_own_rate_over_the_same_time() -> None:
    [epoch] = asyncio.run(epochs_of(Destination("a", 80e6), Destination("b", 40e6)))
    assert epoch is not None
    assert epoch.concurrencies == {"a": 2, "b": 2}
    assert epoch.is_whole
    assert epoch.carried_bytes["a"] == pytest.approx(2 * epoch.carried_bytes["b"], rel=0.3)
    assert epoch.rates_bps["a"] == epoch.carried_bytes["a"] * 8 / epoch.counted_s


def test_who_vanishes_ends_the_epoch_which_then_counts_for_nothing() -> None:
    a, b = Destination("a", 80e6), Destination("b", 40e6)

    async def vanishing() -> list[SharedEpoch | None]:
        async def vanish() -> None:
            await asyncio.sleep(EPOCH_S / 2)
            b.group = None

        gone = asyncio.create_task(vanish())
        found = await epochs_of(a, b, count=2)
        await gone
        return found

    first, second = asyncio.run(vanishing())
    assert first is not None
    assert second is not None
    assert not first.is_whole
    assert second.concurrencies == {"a": 2}
    assert second.is_whole


def test_where_the_work_runs_out_nothing_is_learnt_of_the_concurrency() -> None:
    [epoch] = asyncio.run(epochs_of(Destination("a", 1e6, size_bytes=8 * MIB)))
    assert epoch is not None
    assert not epoch.is_whole


def test_nobody_is_served() -> None:
    gone = Destination("a", 1e6)
    gone.group = None

    async def none() -> SharedEpoch | None:
        return await SharedEpochs({"a": gone}, EPOCH_S).next()

    assert asyncio.run(none()) is None


def test_with_fewer_files_and_the_same_streams_only_the_surplus_is_waited_for() -> None:
    async def fewer() -> SharedEpoch | None:
        a = Destination("a", 80e6)
        epochs = SharedEpochs({"a": a}, EPOCH_S)
        epochs.set({"a": 2})
        a.start()
        assert a.group is not None
        for client in a.group.clients:
            client.moved_bytes = 1
        epochs.set({"a": 1})
        a.group.clients.pop()
        return await epochs.next()

    epoch = asyncio.run(fewer())
    assert epoch is not None
    assert epoch.counted_s > 0.9 * EPOCH_S


def test_an_epoch_counts_once_all_files_that_are_wanted_have_begun() -> None:
    async def more() -> tuple[SharedEpoch | None, float]:
        a = Destination("a", 80e6)
        epochs = SharedEpochs({"a": a}, EPOCH_S)
        epochs.set({"a": 1})
        a.start()
        assert a.group is not None
        for client in a.group.clients:
            client.moved_bytes = 1
        epochs.set({"a": 3})
        a.start()

        async def begin() -> None:
            await asyncio.sleep(EPOCH_S / 3)
            assert a.group is not None
            for client in a.group.clients:
                client.moved_bytes = 1

        beginning = asyncio.create_task(begin())
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        epoch = await epochs.next()
        await beginning
        return epoch, loop.time() - began_s

    epoch, took_s = asyncio.run(more())
    assert epoch is not None
    assert epoch.counted_s < took_s - EPOCH_S / 4


def test_after_a_change_flows_settle_before_an_epoch_counts() -> None:
    now_s = 0.0

    async def until(condition: Callable[[], bool]) -> None:
        nonlocal now_s
        while not condition():
            now_s += 0.5

    async def changed() -> list[SharedEpoch | None]:
        a = Destination("a", 80e6)
        epochs = SharedEpochs({"a": a}, 90.0, 0.13, clock=lambda: now_s, wait_until=until)
        found = []
        for level in (1, 1, 2):
            epochs.set({"a": level})
            a.start()
            assert a.group is not None
            for client in a.group.clients:
                client.moved_bytes = 1
            found.append(await epochs.next())
        return found

    assert [epoch and epoch.counted_s for epoch in asyncio.run(changed())] == [77.0, 90.0, 77.0]


def test_what_clients_of_before_still_move_does_not_count() -> None:
    async def changed() -> tuple[SharedEpoch | None, float]:
        a = Destination("a", 80e6)
        epochs = SharedEpochs({"a": a}, EPOCH_S)
        epochs.set({"a": 2})
        a.start()
        assert a.group is not None
        old = set(a.group.clients)
        epochs.set({"a": 1})

        async def end_the_old() -> None:
            await asyncio.sleep(EPOCH_S / 3)
            assert a.group is not None
            a.group.clients -= old
            file = FileEntry("a", MIB, 0)
            one = Client(Batch((Part(file, 0, MIB),)), 0.1, 60, lambda _: None)
            one.moved_bytes = 1
            a.group.clients.add(one)

        outcome = asyncio.create_task(end_the_old())
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        epoch = await epochs.next()
        await outcome
        return epoch, loop.time() - began_s

    epoch, took_s = asyncio.run(changed())
    assert epoch is not None
    assert epoch.concurrencies == {"a": 1}
    assert epoch.counted_s < took_s - EPOCH_S / 4
