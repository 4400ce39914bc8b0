"""The closing comparison of transports: each probe where the decision hangs.

It ends when no probe is worth its time any more (`advising/standing.py`), or the path has changed,
since the defaults have to be measured again then. A probe is made of

- the setting with fewer flows that may be as good as the best, if that saves flows worth its time;
- the best setting with another number of flows, if that may be faster;
- the setting of the comparison whose better knowledge is most likely to change the choice: the
  chosen one, or the one that may be better;
- the chosen setting, or the default, again where a figure of the advice stands on a single
  probe that no other supports. Settings that the path limits to the same rate support each other.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.advising.context import Context
from advisor.advising.deciding import Decisions
from advisor.advising.profiling import CONFIRM
from advisor.advising.recorder import ProbePurpose
from advisor.advising.standing import Place, Standing
from advisor.advising.user_orders import apply_user_orders
from advisor.domain.events import Purpose

CHEAPER: Final = "cheaper"
"""The label of a probe that looks for a setting with fewer flows."""

FASTER: Final = "faster"
"""The label of a probe that looks for a faster setting with another number of flows."""

_MOST_PROBES: Final = 16
_LARGE_GAIN: Final = 0.4
"""A log rate: from 1.5 times the default on, one probe of it suffices for the gain."""

_SUPPORT: Final = 0.02
"""What knowing a figure of the advice from two probes is worth, as a log rate."""


class _Next(msgspec.Struct, frozen=True):
    """A probe that may be made, and what it gains as a log rate."""

    place: Place
    gain: float
    purpose: Purpose
    label: str


async def close_in(context: Context, decisions: Decisions, *, insist: bool = False) -> None:
    """Probe until the choice is settled or the time is used. Raises Stopped, PeerLost.

    `insist`: use the time that the user ordered, even if the choice is settled.
    """
    async with context.stage(CONFIRM, "", context.budget.left_s) as stage_end:
        stage_end.reason = await _probes(context, decisions, insist)


async def _probes(context: Context, decisions: Decisions, insist: bool) -> str:
    for _ in range(_MOST_PROBES):
        await apply_user_orders(context)
        if context.control.is_skipped(context.stage_name(CONFIRM)):
            return "skipped"
        standing = decisions.standing()
        wanted = _most_wanted(context, decisions, standing, insist and context.wants_more)
        if wanted is None:
            return _settled(standing)
        place = wanted.place
        if context.budget.left_s < context.runner.next_probe_s(place.subject):
            return "the time is used"
        purpose = ProbePurpose(stage=CONFIRM, kind=wanted.purpose, label=wanted.label)
        is_new = wanted.purpose == "search"
        least_bps = context.in_question_bps(place.subject) if is_new else 0.0
        await context.record(
            await context.measure(place.subject, place.setting, purpose, least_bps)
        )
        if context.has_just_changed:
            return "the path has changed"
    return f"{_MOST_PROBES} probes are done"


def _settled(standing: Standing) -> str:
    if standing.best is None:
        return "there is nothing to compare"
    return "stopped: the choice is settled, another probe is not worth its time"


def _most_wanted(
    context: Context, decisions: Decisions, standing: Standing, insist: bool
) -> _Next | None:
    """The next probe, None if none is worth its time and nobody insists."""
    worth = [
        (one.gain * standing.transfer_s - decisions.cost_s(one.place.subject), one)
        for one in _possible(context, standing)
    ]
    surplus_s, best = max(worth, key=lambda pair: pair[0], default=(0.0, None))
    return best if surplus_s > 0 or insist else None


def _possible(context: Context, standing: Standing) -> Iterator[_Next]:
    if found := standing.cheaper():
        yield _Next(*found, "search", CHEAPER)
    if found := standing.faster():
        yield _Next(*found, "search", FASTER)
    if found := standing.doubtful():
        yield _Next(*found, "confirm", "check")
    chosen = standing.chosen
    if chosen is None:
        return
    supported = len(standing.alike()) > 1 and chosen in standing.alike()
    if standing.probes_of(chosen) < 2 and not supported:
        yield _Next(chosen, _SUPPORT, "confirm", "best")
    default = _default(context, standing)
    if default is None or default == chosen or standing.probes_of(default) > 1:
        return
    if standing.log_rate(chosen) - standing.log_rate(default) < _LARGE_GAIN:
        yield _Next(default, _SUPPORT, "confirm", "default")


def _default(context: Context, standing: Standing) -> Place | None:
    keys = [
        (p.subject, p.setting)
        for p in context.probes
        if p.purpose == "baseline" and p.label == "default"
    ]
    return next((p for p in standing.places if (p.subject, p.setting) in keys), None)
