"""Runs the steps of one tool transfer: the source's step here, the other one by the agent."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from advisor.agent.client import AgentLink
from advisor.agent.replies import RemoteStep
from advisor.api.tool import Step, TransferOrder, TransferTool
from advisor.probing.transfer import Ran

_GRACE_S: Final = 3.0
"""How much longer than the other side one side may take to end."""

RunSource: TypeAlias = Callable[[Step], Coroutine[Any, Any, Ran]]


async def run_steps(
    link: AgentLink, tool: TransferTool, order: TransferOrder, run_source: RunSource
) -> Ran:
    """Run the steps to their end; returns the source's result, with the output of both.

    The status is the destination's if only that failed. If cancelled, no process is left on either
    side. Raises ValueError (with a sentence) for what the tool cannot move, PeerError.
    """
    steps = tool.steps(order)
    source = _source_step(tool, steps)
    if len(steps) == 1:
        return await run_source(source)
    async with link.step(tool.name, order) as there:
        if there.base_port is None:
            return _never_ran(*await there.ended())
        order = msgspec.structs.replace(order, base_port=there.base_port)
        return await _run_beside(there, run_source(_source_step(tool, tool.steps(order))))


def runs_there(tool: TransferTool, order: TransferOrder) -> bool:
    """Whether the transfer has a step at the destination; not where the tool cannot move it."""
    try:
        return any(step.side == "destination" for step in tool.steps(order))
    except ValueError:
        return False


def server_port_of(steps: Sequence[Step]) -> int:
    """Where the server listens that writes what these send: 0 without one, -1 if not known."""
    if any(step.side == "destination" or step.as_login for step in steps):
        return 0
    return steps[-1].server_port or steps[-1].control_port or -1


def _source_step(tool: TransferTool, steps: Sequence[Step]) -> Step:
    match steps:
        case [Step(side="source") as source]:
            return source
        case [Step(side="destination"), Step(side="source") as source]:
            return source
    raise ValueError(
        f"{tool.name} cannot be profiled: its plugin must have one step at the source, and at "
        "most one at the destination before it"
    )


async def _run_beside(there: RemoteStep, transfer: Coroutine[Any, Any, Ran]) -> Ran:
    here, ending = asyncio.create_task(transfer), asyncio.create_task(there.ended())
    try:
        await asyncio.wait((here, ending), return_when=asyncio.FIRST_COMPLETED)
        if ending.done():
            has_failed = bool(ending.result()[0])
            await asyncio.wait([here], timeout=_GRACE_S if has_failed else None)
            if not here.done():
                return _never_ran(*ending.result())
        elif here.result().status is None:
            # It was cut short: the reaction of the other side says nothing.
            return here.result()
        else:
            await asyncio.wait([ending], timeout=_GRACE_S)
        ran = here.result()
        return _joined(ran, *ending.result()) if ending.done() else ran
    finally:
        for task in (here, ending):
            task.cancel()
        await asyncio.wait((here, ending))


def _joined(ran: Ran, status: int, output: str, errors: str) -> Ran:
    return msgspec.structs.replace(
        ran,
        status=status if status and not ran.status else ran.status,
        output=f"{ran.output}\n{output}",
        errors=f"{ran.errors}\n{errors}",
    )


def _never_ran(status: int, output: str, errors: str) -> Ran:
    """The result if the destination ended while the source had not, or before it began."""
    return Ran(
        status=status,
        intervals=[],
        moved_bytes=0,
        begun_s=0.0,
        elapsed_s=0.0,
        retransmits=None,
        rtt_s=None,
        output=output,
        errors=errors,
    )
