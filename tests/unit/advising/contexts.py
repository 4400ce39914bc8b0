"""A session's context around a runner of virtual probes; nothing is stored."""

from collections.abc import Sequence
from typing import Any

from advisor.advising.budget import Budget
from advisor.advising.context import Context, PriorResults
from advisor.advising.recorder import ProbeRecorder
from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.runtime.control import Control
from advisor.runtime.events import EventEmitter
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_path

PAIR = Pair("here", "there")


class _Store:
    def append(self, _record: Any) -> None:
        pass


def a_context(
    request: AdviceRequest,
    runner: Any,
    budget_s: float,
    earlier: Sequence[ProbeRecord] = (),
    events: list[ev.AnyEvent] | None = None,
) -> Context:
    """`runner`: has a `clock` as well. `events`: where they are collected."""
    facts = a_path(rtt_s=0.05)
    return Context(
        request=request,
        pair=PAIR,
        path=facts,
        budget=Budget(budget_s, runner.clock),
        history=PriorResults(),
        control=Control(),
        events=EventEmitter([].append if events is None else events.append, runner.clock),
        runner=runner,
        recorder=ProbeRecorder(_Store(), "s", PAIR, request, facts, earlier),  # type: ignore[arg-type]  # Nothing is stored.
    )
