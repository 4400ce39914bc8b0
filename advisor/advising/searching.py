"""The searches of a session over one connection: which, in what order, and for how long."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from advisor import registry
from advisor.advising.closing import close_in
from advisor.advising.context import Context
from advisor.advising.deciding import Decisions
from advisor.advising.more_processes import spread_over_more
from advisor.advising.profiling import (
    BASELINE,
    CONFIRM,
    SearchStage,
    TransportStage,
    WhyEnd,
    measure_baselines,
    never_ends,
    profile,
    stages_of,
)
from advisor.advising.recorder import ProbePurpose
from advisor.advising.user_orders import apply_user_orders
from advisor.domain.space import Space
from advisor.traits import transport_traits

# Shares of the time; the next stage gets what one leaves over. The closing comparison gets the time
# for the rounds of four or five contenders.
_CONFIRM_SHARE: Final = 0.38


def usable_stages(context: Context) -> list[TransportStage]:
    """The stages whose transport is available; the others are named with the remedy.

    Raises ValueError if none is.
    """
    usable = []
    for stage in stages_of(context):
        name, availability = stage.transport.name, registry.availability(stage.transport)
        if not availability.ok:
            missing = f"{availability.reason} ({availability.remedy})"
        elif context.path.receivable is not None and name not in context.path.receivable:
            missing = "the destination cannot receive it (run 'advisor doctor' there)"
        else:
            usable.append(stage)
            continue
        context.events.notice(f"{name} is left out: {missing}")
    if not usable:
        raise ValueError("no transport can be measured: run 'advisor doctor' on both hosts")
    return usable


async def search_transports(
    context: Context, stages: Sequence[SearchStage], spaces: Mapping[str, Space]
) -> None:
    """The defaults, the searches, more processes if a core was full, and the closing comparison,
    until all is decided.

    If the user ordered more time, the searches resume without the question whether it is decided.
    Raises Stopped, PeerLost.
    """
    decisions = Decisions(context, spaces)
    if context.wants_more:
        # The session had ended, and the user resumed it for more.
        await measure_baselines(context, stages)
    else:
        await _until_decided(context, stages, decisions)
    # What the first `based` probes show of the path was known when the defaults were last measured.
    before, based = -1, len(context.probes)
    while _may_continue(context) and len(context.probes) > before:
        before = len(context.probes)
        await _repeated(context, decisions)
        if context.has_changed_since(based):
            await measure_baselines(context, stages)
        based = len(context.probes)
        await _search(context, stages, never_ends)
        await spread_over_more(context, decisions)
        await close_in(context, decisions, insist=True)


async def _until_decided(
    context: Context, stages: Sequence[SearchStage], decisions: Decisions
) -> None:
    """The defaults, the searches and the comparison; again if the path has changed meanwhile."""
    search: Callable[[Context, Sequence[SearchStage], WhyEnd], Awaitable[None]] = search_all
    while True:
        await measure_baselines(context, stages, decisions.why_full)
        if await _repeated(context, decisions):
            continue
        known = len(context.probes)
        await search(context, stages, decisions.why_end)
        search = _search
        if await _repeated(context, decisions):
            continue
        await spread_over_more(context, decisions)
        await close_in(context, decisions)
        if not context.has_changed_since(known) and not await _repeated(context, decisions):
            return


async def _repeated(context: Context, decisions: Decisions) -> bool:
    """Whether there was a probe in doubt, and the time to repeat it."""
    probe = decisions.in_doubt()
    if probe is None:
        return False
    next_s = context.runner.next_probe_s(probe.subject, probe.setting)
    if context.budget.left_s < next_s:
        return False
    await apply_user_orders(context)
    async with context.stage(BASELINE, "", next_s) as stage_end:
        is_default = probe.purpose == "baseline"
        purpose = ProbePurpose(
            stage=BASELINE,
            kind="baseline" if is_default else "confirm",
            label=probe.label if is_default else "check",
        )
        await context.record(await context.measure(probe.subject, probe.setting, purpose))
        stage_end.reason = "measured again"
    return True


def _may_continue(context: Context) -> bool:
    """Whether the user ordered more time, and it suffices for a probe."""
    return context.wants_more and context.budget.left_s >= context.runner.next_probe_s()


async def search_all(
    context: Context, stages: Sequence[SearchStage], why_end: WhyEnd = never_ends
) -> None:
    """Each stage until its share of the time is used; a resumed session skips finished ones."""
    if not any(p.stage == CONFIRM for p in context.probes):
        await _search(context, stages, why_end)


async def _search(context: Context, stages: Sequence[SearchStage], why_end: WhyEnd) -> None:
    confirm_s = _CONFIRM_SHARE * context.budget.left_s
    weights = [transport_traits(stage.subject).budget_weight for stage in stages]
    for number, stage in enumerate(stages):
        searching_s = max(0.0, context.budget.left_s - confirm_s)
        share = weights[number] / sum(weights[number:])
        await profile(context, stage, context.budget.left_s - share * searching_s, why_end)
