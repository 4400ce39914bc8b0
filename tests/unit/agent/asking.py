"""Asks an agent about files, and has files to ask about."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from advisor.agent.client import AgentLink
from advisor.agent.files import ANYWHERE, FileRights
from advisor.domain.file_io import FileIoJob

from .linked import linked

T = TypeVar("T")
NAMES = ["a b", "it's", 'a"b', "a\nb", "Ünïcödé", "-rf", "*", "a\\b"]


def asked(ask: Callable[[AgentLink], Awaitable[T]], rights: FileRights = ANYWHERE) -> T:
    async def run() -> T:
        async with linked(rights) as link:
            return await ask(link)

    return asyncio.run(run())


def written(folder: Path, names: list[str]) -> list[str]:
    """Paths of new files, each with its name as its content."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name)
    return [str(folder / name) for name in names]


def a_job(ceiling_s: float = 1.0) -> FileIoJob:
    return FileIoJob(
        direction="write",
        threads=1,
        request_bytes=65536,
        direct=False,
        total_bytes=2**20,
        ceiling_s=ceiling_s,
    )
