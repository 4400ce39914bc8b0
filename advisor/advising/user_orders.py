"""Carries out the user's orders between two probes, and measures requested settings."""

from typing import Final

from advisor.advising.context import Context
from advisor.advising.recorder import ProbePurpose
from advisor.advising.stored_settings import lacking_of, parameters_of
from advisor.domain import orders as o

USER_STAGE: Final = "by hand"
"""The stage of probes that the user ordered."""


async def apply_user_orders(context: Context) -> None:
    """Wait while paused, extend the budget, and measure what is to be tried. Raises Stopped."""
    await context.apply_orders()
    while context.control.tries:
        wanted = context.control.tries.popleft()
        if trouble := _trouble_with(context, wanted):
            context.events.notice(f"not tried: {trouble}")
            continue
        purpose = ProbePurpose(stage=USER_STAGE, kind="search", label=USER_STAGE)
        await context.record(await context.measure(wanted.subject, wanted.setting, purpose))
        await context.apply_orders()


def _trouble_with(context: Context, wanted: o.Try) -> str:
    """Why this setting cannot be measured here; "" if it can, as far as is known."""
    request = context.request
    subjects = [request.tool] if request.tool else request.transports
    if wanted.subject not in subjects:
        return f"this session measures {', '.join(subjects)}"
    known = [set(p.setting) for p in context.probes if p.subject == wanted.subject]
    if known and set(wanted.setting) not in known:
        return f"a setting of {wanted.subject} has {', '.join(sorted(known[0]))}"
    needed = parameters_of(context.path, request.tool, request.dataset)[wanted.subject]
    if lacking := sorted(lacking_of(wanted.setting, needed)):
        return f"it needs a number of {', '.join(lacking)}"
    for name, value in wanted.setting.items():
        if not isinstance(value, str) and not 0 <= value < 2**31:
            return f"{name} {value} is out of bounds"
    return ""
