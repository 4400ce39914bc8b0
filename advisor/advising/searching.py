"""The searches of a session over one connection: which, in what order, and for how long."""

from collections.abc import Mapping, Sequence
from typing import Final

from advisor.advising.confirming import confirm
from advisor.advising.context import Context
from advisor.advising.profiling import (
    CONFIRM,
    SearchStage,
    TransportStage,
    measure_baselines,
    profile,
    stages_of,
)
from advisor.domain.events import PastResult
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
        name, availability = stage.transport.name, stage.transport.available()
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
    context: Context,
    stages: Sequence[SearchStage],
    past: Sequence[PastResult],
    spaces: Mapping[str, Space],
) -> None:
    """The defaults, each search, and the closing comparison. Raises Stopped, PeerLost."""
    await measure_baselines(context, stages)
    await search_all(context, stages)
    await confirm(context, past, spaces)


async def search_all(context: Context, stages: Sequence[SearchStage]) -> None:
    """Each stage until its share of the time is used; a resumed session skips finished ones."""
    confirm_s = _CONFIRM_SHARE * context.budget.left_s
    if any(p.stage == CONFIRM for p in context.probes):
        return
    weights = [transport_traits(stage.subject).budget_weight for stage in stages]
    for number, stage in enumerate(stages):
        searching_s = max(0.0, context.budget.left_s - confirm_s)
        share = weights[number] / sum(weights[number:])
        await profile(context, stage, context.budget.left_s - share * searching_s)
