"""A running command: its process, its model, and the user's orders."""

import asyncio
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from advisor.domain.events import AnyEvent, GaveUp
from advisor.domain.orders import Order
from advisor.runtime.advisor_child import AdvisorChild


class _Model(Protocol):
    @property
    def is_over(self) -> bool: ...

    def apply(self, event: AnyEvent) -> None: ...


ModelT = TypeVar("ModelT", bound=_Model)


class LiveRun(Generic[ModelT]):
    """A command that takes orders, started with these arguments; its events update `model`.

    `name`: what error messages call it.
    """

    name = "run"

    def __init__(self, arguments: Sequence[str], model: ModelT) -> None:
        self.model = model
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
                self.model.apply(event)
            status, said = await self._child.ended()
            if not self.model.is_over:
                self._give_up(said or f"the {self.name} ended with status {status}", status)
        except OSError as error:
            self._give_up(f"the {self.name} cannot be started: {error.strerror or error}", 1)
        finally:
            if self._child:
                await asyncio.shield(self._child.close(at_once=True))

    def _give_up(self, message: str, exit_code: int) -> None:
        message = message.removeprefix("advisor: ")
        # It has no time of its own: the model uses the latest it knows.
        self.model.apply(GaveUp(at_s=0.0, message=message, exit_code=exit_code))

    def order(self, order: Order) -> None:
        """Send an order; its effect is reported as an event."""
        if self._child:
            self._child.order(order)

    async def close(self) -> None:
        """End it, if it runs: its results are stored, and it can be resumed."""
        if self._child and self.is_running:
            await self._child.close()
        self._reading.cancel()
        await asyncio.wait([self._reading])
