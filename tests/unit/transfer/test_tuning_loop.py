"""Control epochs over files that moves by a made-up surface, on a clock of its own."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from advisor import registry
from advisor.domain import events as ev
from advisor.domain.dataset import Dataset
from advisor.domain.measurement import Failure, Measurement, Outcome
from advisor.domain.space import Setting
from advisor.domain.transfers import Levels
from advisor.methods.api import Knowledge
from advisor.methods.online_tuning import OnlineTuning
from advisor.methods.tuning import Fixed, Searching, Tuner, TunerBounds
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.testing.samples import a_path
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.setting_control import SettingControl
from advisor.transfer.tuned.loop import Epoch, TuningLoop
from advisor.transfer.tuned.tuners import (
    FIXED,
    TunerWanted,
    learns_from_transfers,
    tuned_space,
    tuner_of,
)
from tests.virtual_clock import VirtualClock

MB = 10**6
TURN_S = 0.1
PIECE_S = 2.0


class Sky(FileGroup):
    """One endless file, of which a given rate arrives."""

    def __init__(self) -> None:
        super().__init__("all", [FileEntry("sky", 10**15, 0)])
        self.arrived = 0

    @property
    def carried_bytes(self) -> int:
        return self.arrived


class Wheel(VirtualClock):
    """Turns the clock, and moves bytes: clients of PIECE_S each, with the streams they began with.

    `rate`: bytes/s of a number of clients with these streams each, mean over them.
    """

    def __init__(self, group: Sky, rate: Callable[[int, float], float], lasts_s: float) -> None:
        super().__init__()
        self._group = group
        self._rate = rate
        self._lasts_s = lasts_s
        self._control = SettingControl()
        self._ends_s: dict[Client, tuple[float, int]] = {}

    def apply(self, group: FileGroup, setting: Setting, fallback: Setting | None = None) -> None:
        self._control.apply(group, setting, fallback)

    @property
    def refusal(self) -> str:
        return self._control.refusal

    def fall_back(self, message: str) -> bool:
        return self._control.fall_back(message)

    def step(self) -> None:
        group = self._group
        for client, (end_s, _) in list(self._ends_s.items()):
            if self.now_s >= end_s:
                group.clients.discard(client)
                del self._ends_s[client]
        while len(self._ends_s) < group.concurrency:
            client = Client(Batch(()), 1.0, 15.0, lambda _: None)
            group.clients.add(client)
            self._ends_s[client] = (self.now_s + PIECE_S, group.parallelism)
        streams = [one for _, one in self._ends_s.values()]
        rate = self._rate(len(streams), sum(streams) / len(streams)) if streams else 0.0
        group.arrived += round(rate * TURN_S)
        self.now_s += TURN_S
        if self.now_s >= self._lasts_s:
            group.clients.clear()
            group.work.drop(group.files[0])


class Ran:
    """A transfer that is over, and what it reported."""

    def __init__(self, tuner: Tuner, rate: Callable[[int, float], float], lasts_s: float) -> None:
        self.events: list[ev.Event] = []
        self.epochs: list[Epoch] = []
        self._tuner = tuner
        self.group = Sky()
        self.wheel = Wheel(self.group, rate, lasts_s)

    @property
    def changes_reported(self) -> list[ev.SettingChanged]:
        return [one for one in self.events if isinstance(one, ev.SettingChanged)]

    def _tell(self, event: type[ev.Event], **fields: Any) -> None:
        made: Any = event(at_s=self.wheel.now_s, **fields)
        self.events.append(made)

    async def run(self, epoch_s: float = 10.0, *, restarts: bool = False) -> "Ran":
        loop = TuningLoop(
            self._tuner,
            epoch_s,
            restarts=restarts,
            emit=self._tell,
            record=self.epochs.append,
            clock=self.wheel.clock,
        )
        await loop.run(self.wheel, self.group)
        return self


def peak(clients: int, streams: float) -> float:
    """In bytes/s; best with 11 clients of 4 streams."""
    return 100 * MB / (1 + 0.02 * ((clients - 11) ** 2 + 2 * (streams - 4) ** 2))


def nelder_mead() -> Tuner:
    space = tuned_space(TunerBounds(concurrency=32, parallelism=16))
    plugin = registry.method("nelder-mead")
    return Searching(
        lambda _: plugin.create(space, np.random.default_rng(0), Knowledge(), {}), space
    )


@pytest.mark.asyncio
async def test_the_tuner_gets_to_the_peak() -> None:
    ran = await Ran(nelder_mead(), peak, 1000.0).run()
    assert peak(ran.group.concurrency, ran.group.parallelism) > 80 * MB
    assert peak(2, 8) < 40 * MB
    assert [one.number for one in ran.epochs] == list(range(1, len(ran.epochs) + 1))
    assert len(ran.epochs) >= 95


@pytest.mark.asyncio
async def test_every_change_is_reported_with_what_the_epoch_before_gave() -> None:
    ran = await Ran(nelder_mead(), peak, 300.0).run()
    settings = [one.setting for one in ran.epochs]
    changes = [n for n, (a, b) in enumerate(itertools.pairwise(settings)) if a != b]
    changes_reported = ran.changes_reported[: len(changes)]
    assert [one.epoch for one in changes_reported] == [ran.epochs[n].number for n in changes]
    assert [(one.old, one.new) for one in changes_reported] == [
        (settings[n], settings[n + 1]) for n in changes
    ]
    for one, n in zip(changes_reported, changes, strict=True):
        result = ran.epochs[n].outcome
        assert isinstance(result, Measurement)
        assert one.throughput_bps == result.throughput_bps
        assert one.reason


@pytest.mark.asyncio
async def test_what_arrives_at_the_setting_before_is_not_counted() -> None:
    """Clients of the former setting end their piece first; the new one receives its own rate."""
    tuner = nelder_mead()
    ran = await Ran(tuner, peak, 300.0).run()
    for one in ran.epochs:
        result = one.outcome
        assert isinstance(result, Measurement)
        expected = peak(int(one.setting["concurrency"]), float(one.setting["parallelism"]))
        assert result.throughput_bps == pytest.approx(8 * expected, rel=0.001)
        assert sum(i.received_bytes for i in result.intervals) * 8 == pytest.approx(
            result.throughput_bps * result.intervals[-1].end_s
        )


@pytest.mark.asyncio
async def test_at_most_half_of_an_epoch_is_left_out() -> None:
    ran = await Ran(nelder_mead(), peak, 60.0).run(epoch_s=1.0)
    assert ran.changes_reported
    for one in ran.epochs:
        assert isinstance(one.outcome, Measurement)
        assert one.outcome.intervals[-1].end_s >= 0.5 - 1e-6


@pytest.mark.asyncio
async def test_a_failed_epoch_is_reported_as_one() -> None:
    """Too many clients, and nothing moves: the tuner goes elsewhere."""

    def choked(clients: int, streams: float) -> float:
        return 0.0 if clients > 8 else peak(clients, streams)

    ran = await Ran(nelder_mead(), choked, 1000.0).run()
    failed = [one for one in ran.epochs if isinstance(one.outcome, Failure)]
    assert failed
    assert all(int(one.setting["concurrency"]) > 8 for one in failed)
    assert 1 < ran.group.concurrency <= 8
    [first] = [one for one in ran.changes_reported if one.epoch == failed[0].number]
    assert first.throughput_bps == 0


@pytest.mark.asyncio
async def test_a_method_that_ends_leaves_its_best() -> None:
    space = tuned_space(TunerBounds(concurrency=32, parallelism=16))
    plugin = registry.method("heur2")
    tuner = Searching(
        lambda _: plugin.create(space, np.random.default_rng(0), Knowledge(), {}), space
    )
    ran = await Ran(tuner, peak, 1000.0).run()

    def rate(epoch: Epoch) -> float:
        assert isinstance(epoch.outcome, Measurement)
        return epoch.outcome.throughput_bps

    assert ran.epochs[-1].setting == max(ran.epochs, key=rate).setting
    assert ran.changes_reported[-1].reason.endswith("it keeps the best setting and watches")


class Reported:
    """A tuner that only listens."""

    def __init__(self) -> None:
        self.setting: Setting = {"concurrency": 2, "parallelism": 2}
        self.outcomes: list[Outcome] = []

    def tell(self, outcome: Outcome) -> str:
        self.outcomes.append(outcome)
        return ""


@pytest.mark.asyncio
async def test_the_last_epoch_is_not_told() -> None:
    tuner = Reported()
    ran = await Ran(tuner, peak, 35.0).run()
    assert len(tuner.outcomes) == len(ran.epochs) == 3
    assert ran.changes_reported == []


@pytest.mark.asyncio
async def test_nor_is_one_in_which_the_work_runs_out() -> None:
    tuner = Reported()
    ran = Ran(tuner, peak, 35.0)
    [file] = ran.group.files
    all_of_it = Batch((Part(file, 0, file.size_bytes),))
    ran.group.clients.add(Client(all_of_it, 1.0, 15.0, lambda _: None))
    await ran.run()
    assert tuner.outcomes == []


@pytest.mark.asyncio
async def test_every_epoch_is_reported() -> None:
    ran = await Ran(nelder_mead(), peak, 100.0).run()
    ended = [one for one in ran.events if isinstance(one, ev.EpochEnded)]
    assert [(one.epoch, one.setting) for one in ended] == [
        (e.number, e.setting) for e in ran.epochs
    ]
    for one, epoch in zip(ended, ran.epochs, strict=True):
        assert isinstance(epoch.outcome, Measurement)
        assert one.throughput_bps == epoch.outcome.throughput_bps
        assert one.failure == ""


@pytest.mark.asyncio
async def test_restarting_ends_all_clients_before_each_epoch() -> None:
    """Those at work when an epoch begins are all of it, though the setting is the same."""
    begun: list[set[Client]] = []

    class Watched(Wheel):
        async def drain(self, group: FileGroup) -> None:
            begun.append(set(group.clients))
            await super().drain(group)
            assert group.concurrency == 0
            assert not group.clients

    ran = Ran(Fixed({"concurrency": 3, "parallelism": 2}), peak, 95.0)
    ran.wheel = Watched(ran.group, peak, 95.0)
    await ran.run(epoch_s=9.0, restarts=True)
    assert len(begun) == len(ran.epochs) > 5
    assert all(len(clients) == 3 for clients in begun[:-1])
    assert not set.intersection(*begun[:2])


class Faulty(Reported):
    """A method with a mistake in it."""

    def tell(self, outcome: Outcome) -> str:
        super().tell(outcome)
        if len(self.outcomes) == 3:
            raise ZeroDivisionError("float division by zero")
        self.setting = {"concurrency": 2 + len(self.outcomes), "parallelism": 2}
        return "up"


@pytest.mark.asyncio
async def test_a_mistake_of_the_method_does_not_end_the_transfer() -> None:
    ran = await Ran(Faulty(), peak, 95.0).run()
    assert [int(one.setting["concurrency"]) for one in ran.epochs] == [
        2,
        3,
        4,
        4,
        4,
        4,
        4,
        4,
        4,
    ]
    [notice] = [one for one in ran.events if isinstance(one, ev.Notice)]
    assert "ZeroDivisionError: float division by zero" in notice.message


class Ladder(Reported):
    """One file more at a time after each epoch, and back to two where one failed."""

    def tell(self, outcome: Outcome) -> str:
        super().tell(outcome)
        concurrency = int(self.setting["concurrency"])
        failed = isinstance(outcome, Failure)
        self.setting = {"concurrency": 2 if failed else concurrency + 1, "parallelism": 2}
        return "next"


@pytest.mark.asyncio
async def test_a_setting_at_which_nothing_gets_through_fails_its_epoch() -> None:
    """The mover finds so at five clients, and would give up: it is sent back to four."""
    ran = Ran(Ladder(), peak, 95.0)

    class Refusing(Wheel):
        async def until(self, condition: Callable[[], bool]) -> None:
            while not condition():
                if self._group.concurrency > 4:
                    assert self.fall_back("too many connections")
                    assert self._group.concurrency == 4
                    # Until something got through there is nothing else to turn to.
                    assert not self.fall_back("too many connections")
                self.step()
                self._group.work.done_bytes = self._group.arrived

    ran.wheel = Refusing(ran.group, peak, 95.0)
    await ran.run()
    refused = [one for one in ran.epochs if isinstance(one.outcome, Failure)]
    assert refused
    assert {int(one.setting["concurrency"]) for one in refused} == {5}
    for one in refused:
        assert isinstance(one.outcome, Failure)
        assert one.outcome.message == "too many connections"
    after = ran.epochs[ran.epochs.index(refused[0]) + 1]
    assert after.setting["concurrency"] == 2
    assert isinstance(after.outcome, Measurement)


@pytest.mark.asyncio
async def test_what_runs_after_a_refusal_counts_at_once() -> None:
    """Its clients have the setting that it returns to: none of them is waited for."""
    more: Setting = {"concurrency": 4, "parallelism": 4}
    tuner = OnlineTuning({"concurrency": 4, "parallelism": 2}, lambda *_: (more, ""))
    ran = Ran(tuner, peak, 195.0)

    class Refusing(Wheel):
        async def until(self, condition: Callable[[], bool]) -> None:
            while not condition():
                if self._group.parallelism > 2:
                    assert self.fall_back("no such streams")
                self.step()
                self._group.work.done_bytes = self._group.arrived

    ran.wheel = Refusing(ran.group, peak, 195.0)
    # It ends a second before the pieces do.
    await ran.run(epoch_s=9.25)
    streams = [one.setting["parallelism"] for one in ran.epochs]
    assert streams == [2] * 4 + [4] + [2] * (len(streams) - 5)
    assert len(streams) > 15
    following = ran.epochs[5].outcome
    assert isinstance(following, Measurement)
    assert following.intervals[-1].end_s > 9.25 - 0.5


@pytest.mark.asyncio
async def test_there_is_no_recourse_from_the_first_setting() -> None:
    ran = Ran(Reported(), peak, 35.0)
    refused: list[bool] = []

    class Stuck(Wheel):
        async def until(self, condition: Callable[[], bool]) -> None:
            if not refused:
                refused.append(self.fall_back("connection refused"))
            await super().until(condition)

    ran.wheel = Stuck(ran.group, peak, 35.0)
    await ran.run()
    assert refused == [False]


@pytest.mark.asyncio
async def test_fixed_stays() -> None:
    ran = await Ran(Fixed({"concurrency": 3, "parallelism": 2}), peak, 100.0).run()
    assert {tuple(one.setting.values()) for one in ran.epochs} == {(3, 2)}
    assert (ran.group.concurrency, ran.group.parallelism) == (3, 2)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"method": "sweep", "start": Levels(concurrency=3, parallelism=5)}, "--start"),
        (
            {"method": "compass", "bounds": TunerBounds(concurrency=8, parallelism=8, flows=1)},
            "fixed",
        ),
        ({"method": "harp", "price": 0.02}, "leave out --price"),
        ({"method": FIXED, "price": 0.02}, "leave out --price"),
    ],
)
def test_a_tuner_that_cannot_be(wanted: dict[str, Any], words: str) -> None:
    bounds = {"bounds": TunerBounds(concurrency=8, parallelism=8)}
    with pytest.raises(ValueError, match=words):
        tuner_of(TunerWanted(**(bounds | wanted)), Dataset(total_bytes=1, files=1), a_path(), [])


def test_bounds_are_those_of_the_space() -> None:
    space = tuned_space(TunerBounds(concurrency=8, parallelism=16, flows=12))
    assert [(p.name, p.upper) for p in space.parameters] == [
        ("concurrency", 8),
        ("parallelism", 12),
    ]
    alone = tuned_space(TunerBounds(concurrency=8, parallelism=1))
    assert [p.name for p in alone.parameters] == ["concurrency"]
    assert alone.fixed == {"parallelism": 1}


def test_methods_say_whether_they_choose_by_past_transfers() -> None:
    learners = {
        name for name in ("harp", "ann-ot", "compass", FIXED) if learns_from_transfers(name)
    }
    assert learners == {"harp", "ann-ot"}
