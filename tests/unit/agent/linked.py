"""An advisor's link to an agent in the same process."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.files import ANYWHERE, FileRights
from advisor.agent.peer_errors import PeerGone
from advisor.agent.service import AgentService


@contextlib.asynccontextmanager
async def linked(
    rights: FileRights = ANYWHERE, ports: tuple[int, int] = (0, 0)
) -> AsyncIterator[AgentLink]:
    service = AgentService(ports, rights)
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours, limit=m.MESSAGE_LIMIT_BYTES)
    serving = asyncio.create_task(
        service.serve(*await asyncio.open_connection(sock=theirs, limit=m.MESSAGE_LIMIT_BYTES))
    )

    async def close() -> None:
        await serving
        await service.close()

    async def explain() -> PeerGone:
        return PeerGone("the agent ended")

    link = AgentLink(reader, writer, close, explain)
    await link.greet(10)
    try:
        yield link
    finally:
        await link.close()
