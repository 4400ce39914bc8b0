"""The destination's step of a tool's transfer, run by the agent.

The agent's own plugin derives the command from the order; the advisor only names the plugin and
files in a scratch folder, or no file at all. Unlike a probe's port, the ports of a tool are open to
every host that can reach them while the step runs.
"""

import asyncio
import contextlib
import math
import socket
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import msgspec

from advisor import registry
from advisor.agent import messages as m
from advisor.agent.files import FileRights, FilesRefused, scratch_file
from advisor.agent.turn import Turn
from advisor.api.tool import NOWHERE, Step, TransferTool
from advisor.hosts.free_ports import free_run
from advisor.hosts.processes import Child, command_bound_to_stdin, running
from advisor.traits import flow_names, tool_traits

_READY_S: Final = 30.0
_POLL_S: Final = 0.02
_MOST_FLOWS: Final = 1024
_CHUNK_BYTES: Final = 64 * 1024


class _StepRefused(Exception):
    """The step cannot be run; the message is one sentence."""


async def run_step(
    request: m.RunStep,
    rights: FileRights,
    turn: Turn,
    ports: tuple[int, int],
    ready: Callable[[int], Awaitable[None]],
) -> m.Reply:
    """Run a step; return the reply that ends it. `ready` gets the first port. Can be cancelled.

    `ports`: the first and last one that it may be asked to listen on, (0, 0) for any.
    """

    async def awaited(_: int) -> None:
        """Nothing: the advisor knows that the agent is at work, which is enough."""

    try:
        tool = _tool_named(request.tool)
        with tempfile.TemporaryDirectory(prefix="advisor-") as own_folder:
            list_file = Path(own_folder) / "files"
            async with turn.taken(awaited):
                order = await asyncio.to_thread(
                    _allowed, tool, request.order, rights, str(list_file)
                )
                step, base_port = _prepared(tool, order, ports)
                if step.list_text is not None:
                    list_file.write_text(step.list_text, encoding="utf-8")
                return await _run(tool.name, step, base_port, ready)
    except (FilesRefused, _StepRefused) as error:
        return m.Refused(message=str(error))
    except OSError as error:
        return m.Refused(message=f"the step at the destination cannot be run: {error}")


def _tool_named(name: str) -> TransferTool:
    """Raises _StepRefused if it is missing or cannot run."""
    try:
        tool = registry.transfer_tool(name)
    except registry.PluginMissing as error:
        raise _StepRefused(f"at the destination, {error}") from None
    availability = registry.availability(tool)
    if not availability.ok:
        raise _StepRefused(f"at the destination, {availability.reason}: {availability.remedy}")
    return tool


def _allowed(
    tool: TransferTool, order: m.StepOrder, rights: FileRights, list_file: str
) -> m.StepOrder:
    """The order with the targets that the advisor may write. Raises FilesRefused."""
    in_memory = tool_traits(tool.name).memory_to_memory

    def allowed(target: str) -> str:
        return target if in_memory and target == NOWHERE else scratch_file(rights, target)

    pieces = tuple(
        msgspec.structs.replace(piece, target=allowed(piece.target)) for piece in order.pieces
    )
    return msgspec.structs.replace(order, pieces=pieces, list_file=list_file)


def _prepared(tool: TransferTool, order: m.StepOrder, ports: tuple[int, int]) -> tuple[Step, int]:
    """The destination's step, and the first port it listens on. Raises _StepRefused, OSError."""
    counts = [value for name, value in order.setting.items() if name in flow_names()]
    flows = math.prod(one if isinstance(one, int) and one > 0 else 0 for one in counts)
    if not 1 <= flows <= _MOST_FLOWS:
        raise _StepRefused(f"a transfer has 1 to {_MOST_FLOWS} flows: choose such a setting")
    is_ipv6 = ":" in order.path.destination_address
    base_port = free_run(flows, ports, socket.AF_INET6 if is_ipv6 else socket.AF_INET)
    try:
        steps = tool.steps(msgspec.structs.replace(order, base_port=base_port))
    except Exception as error:  # noqa: BLE001 — a plugin may raise anything on an unusual setting
        raise _StepRefused(f"{tool.name} cannot move this: {error}") from None
    mine = [step for step in steps if step.side == "destination"]
    if len(mine) != 1:
        raise _StepRefused(f"{tool.name} has {len(mine)} steps at the destination instead of one")
    return mine[0], base_port


async def _run(
    name: str, step: Step, base_port: int, ready: Callable[[int], Awaitable[None]]
) -> m.Reply:
    async with running(command_bound_to_stdin(step.argv)) as child:
        output = bytearray()
        reading = asyncio.create_task(_keep_end(child, output))
        ending = asyncio.create_task(child.wait())
        try:
            if await _is_ready(child, step, ending):
                await ready(base_port)
            elif not ending.done():
                return m.Refused(
                    message=f"{name} did not listen at the destination within {_READY_S:.0f} s: "
                    "run its line there manually"
                )
            status = await ending
            await asyncio.wait([reading], timeout=1.0)
        finally:
            for task in (reading, ending):
                task.cancel()
            await asyncio.wait((reading, ending))
        return m.StepEnded(status=status, output=_end_of(output), errors=_end_of(child.stderr))


async def _is_ready(child: Child, step: Step, ending: asyncio.Task[int]) -> bool:
    """Whether it reported to be ready, before it ended and within the time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READY_S):
            while step.ready.encode() not in child.stderr:
                if ending.done():
                    return False
                await asyncio.sleep(_POLL_S)
            return True
    return False


async def _keep_end(child: Child, output: bytearray) -> None:
    """Read everything it prints, and keep the end."""
    while chunk := await child.stdout.read(_CHUNK_BYTES):
        output += chunk
        del output[: -m.STEP_OUTPUT_LIMIT]


def _end_of(printed: bytes | bytearray) -> str:
    return bytes(printed[-m.STEP_OUTPUT_LIMIT :]).decode(errors="replace")
