"""The closing comparison: the best, its rival and the defaults, probed alternately."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from advisor.advising.choosing import ranking_of
from advisor.advising.contenders import Candidate, Ranking, contenders
from advisor.advising.context import Context
from advisor.advising.judging import comparable, moved_share
from advisor.advising.profiling import CONFIRM
from advisor.advising.recorder import ProbePurpose
from advisor.advising.user_orders import apply_user_orders
from advisor.domain import events as ev
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Space
from advisor.runtime.request import AdviceRequest

_LEAST_ROUNDS: Final = 2
_MOST_ROUNDS: Final = 12


async def confirm(
    context: Context,
    past: Sequence[ev.PastResult],
    spaces: Mapping[str, Space],
    until_left_s: float = 0.0,
) -> None:
    """Probe the contenders in rounds, each in a new random order. Raises Stopped, PeerLost.

    `until_left_s`: how much of the budget stays for what follows.

    As they alternate, a change of the load on the path affects all of them alike. It ends when no
    pair that the advice depends on could change its order, or when the time is used up.
    """
    chosen = contenders(comparable(context.request, context.probes), past, spaces)
    budget_s = max(0.0, context.budget.left_s - until_left_s)
    async with context.stage(CONFIRM, "", budget_s) as stage_end:
        stage_end.reason = await _rounds(context, chosen, past, spaces, until_left_s)


async def _rounds(
    context: Context,
    chosen: Sequence[Candidate],
    past: Sequence[ev.PastResult],
    spaces: Mapping[str, Space],
    until_left_s: float,
) -> str:
    if not chosen:
        return "there is nothing to compare"
    order = np.random.default_rng([context.request.seed, len(context.probes)])
    for round_ in range(_MOST_ROUNDS):
        indices = order.permutation(len(chosen)).tolist()
        if not round_:
            indices.sort(key=whole_last(context.request, context.probes, chosen))
        for index in indices:
            await apply_user_orders(context)
            if context.control.is_skipped(context.stage_name(CONFIRM)):
                return "skipped"
            candidate = chosen[index]
            left_s = context.budget.left_s - until_left_s
            if left_s < context.runner.next_probe_s(candidate.subject, candidate.setting):
                return "the time is used"
            purpose = ProbePurpose(stage=CONFIRM, kind="confirm", label=candidate.role)
            await context.record(
                await context.measure(candidate.subject, candidate.setting, purpose)
            )
        if round_ + 1 < _LEAST_ROUNDS:
            continue
        ranking = ranking_of(context.request, context.path, context.probes, past, spaces)
        if ranking and _is_decided(ranking):
            return f"the ranking is settled after {round_ + 1} rounds"
    return f"{_MOST_ROUNDS} rounds are done"


def whole_last(
    request: AdviceRequest, probes: Sequence[ProbeRecord], chosen: Sequence[Candidate]
) -> Callable[[int], bool]:
    """Where the whole dataset was moved at some settings, those come last: should the time not
    suffice for all, a whole is not compared with a slice. A sort key of indices into `chosen`."""
    shares = [moved_share(request, probes, one.subject, one.setting) for one in chosen]
    return lambda index: shares[index] == 1


def _is_decided(ranking: Ranking) -> bool:
    comparison = ranking.comparison
    best = comparison.order()[0]
    return all(comparison.settled(best, i) for i in range(len(ranking.candidates)) if i != best)
