"""Runs that were told, in place of ones that go on."""

from typing import Generic, TypeVar

from advisor.domain.orders import Order

_Story = TypeVar("_Story")


class ToldRun(Generic[_Story]):
    """As the screens see one; `orders` are those that it was given."""

    def __init__(self, story: _Story, *, is_running: bool) -> None:
        self.story = story
        self.is_running = is_running
        self.orders: list[Order] = []
        self.is_closed = False

    def order(self, order: Order) -> None:
        self.orders.append(order)

    async def close(self) -> None:
        self.is_closed = True
