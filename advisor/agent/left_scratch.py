"""What an advisor leaves of its scratch folders when it is killed, or its connection is cut.

A thread that makes one cannot be ended, and may be slow. So it tells of the folder itself, and it
removes the folder itself if by then nobody is left who could.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from typing import Final

from advisor.agent import messages as m
from advisor.agent.files import FilesRefused

_PAUSE_S: Final = 0.5


class ScratchFolders:
    """Those that one conversation has made, and has not asked to remove.

    `remove`: removes one, or raises FilesRefused. It blocks. `retried_s`: how long that is retried.
    """

    def __init__(self, remove: Callable[[str], None], retried_s: float) -> None:
        self._remove_one = remove
        self._retried_s = retried_s
        self._folders: set[str] = set()
        self._is_over = False
        self._changing = threading.Lock()

    def made(self, folder: str) -> None:
        """Called in the thread that made it, also after the conversation has ended."""
        with self._changing:
            is_late = self._is_over
            if not is_late:
                self._folders.add(folder)
        if is_late:
            with contextlib.suppress(FilesRefused):
                self._remove_one(folder)

    def note(self, request: object, reply: m.Reply) -> None:
        """Follow a request and its reply."""
        if isinstance(reply, m.ScratchMade):
            self._folders.add(reply.folder)
        if isinstance(request, m.RemoveScratch):
            # If that was refused, the advisor knows why.
            self._folders.discard(request.folder)

    async def remove(self) -> None:
        """Remove them, once the servers that still write there have noticed that nobody sends."""
        with self._changing:
            self._is_over = True
        if self._folders:
            await asyncio.to_thread(self._remove)

    def _remove(self) -> None:
        """In a thread, which ends its work also when the agent is stopped."""
        deadline_s = time.monotonic() + self._retried_s
        while True:
            for folder in list(self._folders):
                with contextlib.suppress(FilesRefused):
                    self._remove_one(folder)
                    self._folders.discard(folder)
            if not self._folders or time.monotonic() >= deadline_s:
                return
            time.sleep(_PAUSE_S)
