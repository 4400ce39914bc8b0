"""Spreads the streams of the best setting over more processes, while one core is what limits it.

A program with one thread cannot use more than one core, and on fast paths that is less than the
path carries. The search knows nothing of processes, so on all other paths it has no more to try
than before. Once it is over, and a thread filled its core at the best setting while its host had
idle cores, the number of processes is doubled, for as long as that is faster and a core is full.
"""

from typing import Final

from advisor import registry
from advisor.advising.context import Context
from advisor.advising.deciding import Decisions
from advisor.advising.recorder import ProbePurpose
from advisor.advising.standing import Standing
from advisor.advising.user_orders import apply_user_orders
from advisor.agent.messages import PROBES_LIMIT
from advisor.api.transport import WithProcesses
from advisor.domain.measurement import Failure
from advisor.domain.space import PROCESSES, Setting, processes_of
from advisor.models.limits import full_loads, host_is_full
from advisor.traits import transport_traits

SPREAD: Final = "processes"
"""The name of the stage, and the label of its probes."""

_WORTH: Final = 0.2
"""What twice the processes may gain, as a log rate: twice the cores for half of the work each would
be 0.7, but they share memory and interrupts."""


async def spread_over_more(context: Context, decisions: Decisions) -> None:
    """Measure the best settings over more processes, if that may help. Raises Stopped, PeerLost."""
    for subject in {probe.subject: None for probe in context.probes}:
        if next_setting(context, decisions.standing(), subject) is not None:
            async with context.stage(SPREAD, subject, context.budget.left_s) as stage_end:
                stage_end.reason = await _probes(context, decisions, subject)


async def _probes(context: Context, decisions: Decisions, subject: str) -> str:
    while setting := next_setting(context, decisions.standing(), subject):
        await apply_user_orders(context)
        if context.control.is_skipped(context.stage_name(SPREAD)):
            return "skipped"
        if context.budget.left_s < context.runner.next_probe_s(subject):
            return "the time is used"
        purpose = ProbePurpose(stage=SPREAD, kind="search", label=SPREAD)
        probe = await context.measure(subject, setting, purpose)
        await context.record(probe)
        if isinstance(probe.probed.outcome, Failure):
            return f"more processes failed: {probe.probed.outcome.message}"
    best = decisions.standing().best_of(subject)
    used = processes_of(best.setting) if best else 1
    words = "one process" if used == 1 else f"{used} processes"
    return f"stopped: more than {words} would not be faster"


def next_setting(context: Context, standing: Standing, subject: str) -> Setting | None:
    """The best setting of a subject over twice the processes; None where that cannot be faster.

    Sessions over several connections have a process for each already.
    """
    transport = registry.transport(subject)
    if not isinstance(transport, WithProcesses) or not context.runner.can_spread:
        return None
    best = standing.best_of(subject)
    if best is None or standing.is_full or context.is_one_of_several:
        return None
    full = full_loads(standing.latest(best))
    if not full or any(host_is_full(load) for load in full.values()):
        return None
    most = min(transport.most_processes(context.path), PROBES_LIMIT, context.request.max_streams)
    now = processes_of(best.setting)
    processes = min(2 * now, most)
    streams = transport_traits(subject).flow_parameter
    setting = best.setting | {streams: max(best.flows, processes), PROCESSES: processes}
    worth_s = _WORTH * standing.transfer_s
    if processes <= now or worth_s < context.runner.next_probe_s():
        return None
    if context.recorder.has_measured(subject, setting) or _failed(context, subject, processes):
        return None
    return setting


def _failed(context: Context, subject: str, processes: int) -> bool:
    """Whether all probes over as many processes or more failed: they may lack ports."""
    spread = [
        probe.result
        for probe in context.probes
        if probe.subject == subject and processes_of(probe.setting) >= processes
    ]
    return bool(spread) and all(isinstance(one, Failure) for one in spread)
