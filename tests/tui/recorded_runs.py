"""Recorded runs, in place of running ones."""

from typing import Generic, TypeVar

from advisor.domain.orders import Order

ModelT = TypeVar("ModelT")


class RecordedRun(Generic[ModelT]):
    """As the screens see one; `orders` are those that it was given."""

    def __init__(self, model: ModelT, *, is_running: bool) -> None:
        self.model = model
        self.is_running = is_running
        self.orders: list[Order] = []
        self.is_closed = False

    def order(self, order: Order) -> None:
        self.orders.append(order)

    async def close(self) -> None:
        self.is_closed = True
