"""A session under way, as the screens have it: its process, its story, and the user's orders."""

import asyncio
from collections.abc import Sequence

from advisor.domain.events import AnyEvent, GaveUp
from advisor.domain.orders import Order
from advisor.tui.child import AdvisorChild
from advisor.tui.story import Story


class LiveSession:
    """Started with the words of `advisor advise` or `resume`; `story` grows as events come."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.story = Story()
        self.arguments = list(arguments)
        self._child: AdvisorChild | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def is_running(self) -> bool:
        """Whether its process is still there."""
        return not self._reading.done()

    async def _read(self) -> None:
        try:
            self._child = await AdvisorChild.start(self.arguments)
            async for event in self._child.events():
                self.story.hear(event)
            status, said = await self._child.ended()
            if not self.story.is_over:
                self._give_up(said or f"the session ended with status {status}", status)
        except OSError as error:
            self._give_up(f"the session cannot be started: {error.strerror or error}", 1)
        finally:
            if self._child:
                await asyncio.shield(self._child.close(at_once=True))

    def _give_up(self, message: str, exit_code: int) -> None:
        message = message.removeprefix("advisor: ")
        last: AnyEvent = GaveUp(at_s=self.story.at_s, message=message, exit_code=exit_code)
        self.story.hear(last)

    def order(self, order: Order) -> None:
        """Order something; what it changed comes as an event."""
        if self._child:
            self._child.order(order)

    async def close(self) -> None:
        """End the session, if it runs: what it has is stored and it can be resumed."""
        if self._child and self.is_running:
            await self._child.close()
        self._reading.cancel()
        await asyncio.wait([self._reading])
