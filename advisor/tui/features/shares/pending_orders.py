"""Changed requests on their way to the running transfer."""

from collections.abc import Callable
from typing import Final

from textual.timer import Timer

from advisor.domain import orders as o
from advisor.tui.features.shares.live_shares import LiveShares

_AFTER_LAST_KEY_S: Final = 0.8


class PendingOrders:
    """`sent`: the last order for each destination, with the epoch in which it was sent.

    `set_timer`: that of the screen.
    """

    def __init__(self, set_timer: Callable[[float, Callable[[], None]], Timer]) -> None:
        self.sent: dict[str, tuple[str, int]] = {}
        self._set_timer = set_timer
        self._waiting: dict[str, Timer] = {}

    def send_soon(self, destination: str, send: Callable[[], None]) -> None:
        """Call `send` when no further change of this destination comes for a moment."""
        self.cancel(destination)
        self._waiting[destination] = self._set_timer(_AFTER_LAST_KEY_S, send)

    def cancel(self, destination: str) -> None:
        """Do not send what is waiting for this destination."""
        if before := self._waiting.pop(destination, None):
            before.stop()

    def send(self, live: LiveShares, destination: str, asked: str) -> None:
        """Send it at once."""
        self.cancel(destination)
        live.order(o.Ask(destination=destination, asked=asked))
        self.sent[destination] = (asked, live.model.epoch)
