"""A fleet and its planner, for tests."""

from typing import Any

import numpy as np

from advisor.fleet.plan.fleet import DAY_S, Fleet, Host, Limits, Task
from advisor.fleet.plan.planner import Planner
from advisor.fleet.plan.turns import Known, Turn

START_S = 1_800_000_000.0


def a_fleet(number: int = 4, **changes: Any) -> Fleet:
    names = tuple(Host(name=f"h{n}", reach=f"h{n}", bandwidth_bps=1e9) for n in range(number))
    everyone = tuple(range(number))
    task = Task(
        name="mesh", what="advice", blocks=((everyone, everyone),), every_s=DAY_S, budget_s=30.0
    )
    fields = {"hosts": names, "tasks": (task,), "limits": Limits(share_per_day=0.05)}
    return Fleet(**fields | changes)


def planner_of(fleet: Fleet, known: Known | None = None) -> Planner:
    return Planner(fleet, START_S, np.random.default_rng(1), known)


def turn_of(planner: Planner, now_s: float) -> Turn:
    found = planner.next(now_s)
    assert isinstance(found, Turn)
    return found
