"""The searches: `advisor advise` with each method, and SPSA as published."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np

from advisor import registry
from advisor.api.transport import SpaceOptions
from advisor.domain.space import Scale
from advisor.methods.api import Knowledge
from tests.benchmarks.wan.cases import RATE_BPS, SPSA_CONSTANTS, Case, Plan
from tests.benchmarks.wan.hosts import Lab
from tests.benchmarks.wan.measuring import instrument
from tests.benchmarks.wan.results import Run

ADVISED_BY: Final = {"bayes": "advise", "spsa": "advise-spsa"}
"""`advisor advise` by its search: what it is called in the results."""


def advise(lab: Lab, case: Case, plan: Plan, seed: int, search: str) -> Run:
    """The main job with one of the search methods, repeatable and without history."""
    before, began_s = lab.sent_bytes(), time.monotonic()
    budget = ["--budget", f"{plan.budget_s(case):.0f}s"] if plan.quick else []
    with tempfile.TemporaryDirectory() as store, lab.loaded_after(plan.load_at_s(case)):
        events, _ = lab.advisor(
            *("advise", lab.endpoint, "--method", search, "--seed", str(seed)),
            *("--measure", "--store", store, *budget),
            timeout_s=3 * plan.budget_s(case) + 60,
        )
        seconds = time.monotonic() - began_s
        sent = lab.sent_bytes() - before
    last: dict[str, Any] = events[-1] if events else {"message": "it printed nothing"}
    stages = [e["reason"] for e in events if e["event"] == "stage_ended"]
    return Run(
        case=case.key,
        method=ADVISED_BY[search],
        seed=seed,
        transport=last.get("transport", ""),
        setting=last.get("setting"),
        claimed_bps=last.get("expected_bps", 0.0),
        probes=sum(e["event"] == "probe_ended" for e in events),
        seconds=seconds,
        sent_bytes=sent,
        ended=last.get("message") or "; ".join(stages[-1:]),
    )


def spsa(lab: Lab, case: Case, plan: Plan, seed: int) -> Run:
    """The plugin's class with the paper's constants and probes of one fixed length, TCP alone.

    In the space of a session that knows the bandwidth, from a random point. It ends by its
    own conditions, or when the time is used that `advisor advise` has.
    """
    before, began_s, probes = lab.sent_bytes(), time.monotonic(), 0
    with lab.loaded_after(plan.load_at_s(case)), instrument(lab, case) as meter:
        path = msgspec.structs.replace(meter.path, bandwidth_bps=RATE_BPS)
        tcp = registry.transport("tcp")
        (fixed,) = tcp.variants(path, [case.control])
        space = tcp.space(path, fixed, SpaceOptions(buffer_scale=Scale.LINEAR, max_streams=25))
        search = registry.method("spsa-probdata").create(
            space,
            np.random.default_rng([seed, ord(case.key)]),
            Knowledge(path=path, bandwidth_bps=RATE_BPS),
            SPSA_CONSTANTS,
        )
        while (setting := search.ask()) is not None:
            if time.monotonic() - began_s > plan.budget_s(case):
                break
            search.tell(setting, meter.probe("tcp", setting, case.start_s, plan.spsa_s))
            probes += 1
        seconds = time.monotonic() - began_s
        sent = lab.sent_bytes() - before
    best = search.best()
    return Run(
        case=case.key,
        method="spsa",
        seed=seed,
        transport="tcp",
        setting=dict(best[0]) if best else None,
        claimed_bps=best[1] if best else 0.0,
        probes=probes,
        seconds=seconds,
        sent_bytes=sent,
        ended=search.stop_reason or "the time is used up",
    )


METHODS: Final[Mapping[str, Callable[[Lab, Case, Plan, int], Run]]] = {
    **{name: partial(advise, search=search) for search, name in ADVISED_BY.items()},
    "spsa": spsa,
}
