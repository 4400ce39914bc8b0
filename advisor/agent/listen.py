"""`advisor agent --listen`: on a port of its own over TLS."""

import asyncio
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from advisor.agent.door import Door
from advisor.agent.event_log import EventLog
from advisor.agent.files import FileRights
from advisor.agent.secret import tls_context
from advisor.agent.service import AgentService
from advisor.agent.stdio import stop_on_signals


async def serve_tls(
    address: str,
    port: int,
    secret: str,
    ports: tuple[int, int],
    folders: Sequence[Path],
    listening: Callable[[int], None],
    report: Callable[[str], None],
) -> None:
    """Serve every advisor that has the secret, until a signal. Raises OSError if it cannot listen.

    `folders`: advisors may inspect and change files below these. `listening` is called with the
    port once connections are accepted (`port` 0 means any), `report` with a line for the log.
    """
    log = EventLog(report)
    asyncio.get_running_loop().set_exception_handler(functools.partial(_note, log))
    stop = stop_on_signals()
    service = AgentService(ports, FileRights(folders))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await service.serve(reader, writer, writer.get_extra_info("peername")[0])

    door = Door(tls_context(secret, "agent"), serve, log)
    listening(await door.open(address, port))
    await stop.wait()
    await door.close()
    await service.close()


def _note(log: EventLog, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A failed connection is a peer's doing and said elsewhere; anything else is a defect of ours.

    Its traceback is written, but not as often as a peer may wish.
    """
    if not isinstance(context.get("exception"), OSError) and log.allows("a defect"):
        loop.default_exception_handler(context)
