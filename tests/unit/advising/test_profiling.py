"""A search while the round-trip time of its path changes."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from advisor import registry
from advisor.advising import profiling
from advisor.advising.prober import Probed
from advisor.advising.profiling import TransportStage
from advisor.domain import events as ev
from advisor.domain.path import PathFacts
from advisor.domain.space import Parameter, Setting
from advisor.methods.api import Knowledge, Method
from advisor.testing.samples import a_path, measured

RTT_S = 0.01
PATH = a_path(rtt_s=RTT_S, bandwidth_bps=1e9)


class Runner:
    """Measures a rate of its own, and another RTT after every iteration."""

    def __init__(self, rtts_s: list[float]) -> None:
        self.rtt_s = RTT_S
        self._rtts_s = rtts_s

    def next_probe_s(self, _subject: str, _setting: Setting | None = None) -> float:
        return 1.0

    async def update_rtt(self) -> None:
        if self._rtts_s:
            self.rtt_s = self._rtts_s.pop(0)


class Session:
    """What a search sees of a session."""

    def __init__(self, rtts_s: list[float]) -> None:
        self.runner = Runner(rtts_s)
        self.path = PATH
        self.request = SimpleNamespace(buffer_scale=None, max_streams=25, tool=None)
        self.probes: list[Any] = []
        self.path_change = None
        self.has_just_changed = False
        self.budget = SimpleNamespace(left_s=1e6)
        self.control = SimpleNamespace(is_skipped=lambda _: False, tries=[])
        self.evidence = None
        self.reported: list[Any] = []
        self.asked: list[Setting] = []
        self.events = SimpleNamespace(emit=self._emit)

    @property
    def path_now(self) -> PathFacts:
        return a_path(rtt_s=self.runner.rtt_s, bandwidth_bps=1e9)

    def _emit(self, kind: type[ev.Event], **fields: Any) -> None:
        self.reported.append((kind, fields))

    def stage_name(self, stage: str) -> str:
        return stage

    async def apply_orders(self) -> None:
        pass

    def in_question_bps(self, _subject: str) -> float:
        return 0.0

    async def measure(
        self, _subject: str, setting: Setting, _purpose: Any, _least_bps: float
    ) -> Any:
        self.asked.append(setting)
        return SimpleNamespace(probed=Probed(measured(5e8 + len(self.asked)), b""))

    async def record(self, *_: Any, **__: Any) -> None:
        pass

    @property
    def moves(self) -> list[dict[str, Any]]:
        return [fields for kind, fields in self.reported if kind is ev.SpaceMoved]


async def searched(name: str, session: Session) -> Method:
    context: Any = session
    stage = TransportStage(registry.transport("tcp"), {"congestion": "cubic"})
    space = stage.space(context)
    method = registry.method(name).create(space, np.random.default_rng(1), Knowledge(), {"N": 12})
    await profiling._search(context, stage, method, space, 0.0)
    return method


def buffer_of(fields: dict[str, Any]) -> Parameter:
    return next(p for p in fields["space"].parameters if p.name == "buffer_bytes")


@pytest.mark.asyncio
@pytest.mark.parametrize("method", ["spsa", "bayes"])
async def test_the_buffer_range_follows_the_smoothed_round_trip_time(method: str) -> None:
    session = Session([0.011, 0.012, 0.014, 0.016, 0.017])
    await searched(method, session)
    # 25 % more than 10 ms is 14, 25 % more than 14 is beyond 17.
    assert [fields["rtt_s"] for fields in session.moves] == [0.014]
    assert buffer_of(session.moves[0]).upper == pytest.approx(4 * 1e9 * 0.014 / 8, rel=0.001)


@pytest.mark.asyncio
@pytest.mark.parametrize("method", ["spsa", "bayes"])
async def test_what_is_asked_afterwards_lies_in_the_new_range(method: str) -> None:
    session = Session([0.08])
    await searched(method, session)
    moved_to = buffer_of(session.moves[0])
    per_iteration = 3 if method == "spsa" else 1
    later = [int(setting["buffer_bytes"]) for setting in session.asked[per_iteration:]]
    assert later
    assert all(moved_to.contains(value) for value in later)


@pytest.mark.asyncio
async def test_a_round_trip_time_within_the_tolerance_moves_nothing() -> None:
    session = Session([0.0105, 0.0124, 0.0081])
    await searched("spsa", session)
    assert session.moves == []


@pytest.mark.asyncio
async def test_a_method_that_walks_a_grid_keeps_it() -> None:
    session = Session([0.08] * 5)
    context: Any = session
    stage = TransportStage(registry.transport("tcp"), {"congestion": "cubic"})
    space = stage.space(context)
    sweep = registry.method("sweep").create(space, np.random.default_rng(1), Knowledge(), {})
    await profiling._search(context, stage, sweep, space, 0.0)
    assert session.moves == []
