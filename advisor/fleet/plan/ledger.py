"""What went over one link in the last 24 hours, and what may still go."""

from collections import deque

from advisor.fleet.plan.fleet import DAY_S


class Ledger:
    """The bytes of one link; at most `bound_bytes` in any 24 hours.

    A measurement is booked with the most that it may move when it begins, and with what it moved
    when it ends; it counts until 24 hours after its end. Of all that overlap any 24 hours, the one
    that began last found the others still booked: together they are within the bound.
    """

    __slots__ = ("_ended", "_open", "_total", "bound_bytes")

    def __init__(self, bound_bytes: float) -> None:
        self.bound_bytes = bound_bytes
        self._ended: deque[tuple[float, float]] = deque()
        self._total = 0.0
        self._open = 0.0

    def booked_bytes(self, now_s: float) -> float:
        """What counts now, with measurements that have not ended."""
        ended = self._ended
        while ended and ended[0][0] <= now_s:
            self._total -= ended.popleft()[1]
        if not ended:
            self._total = 0.0  # What rounding has left.
        return self._total + self._open

    def has_room(self, wanted_bytes: float, now_s: float) -> bool:
        """Whether this much may be booked."""
        return self.booked_bytes(now_s) + wanted_bytes <= self.bound_bytes

    def begin(self, most_bytes: float) -> None:
        """Book what a measurement may move at most."""
        self._open += most_bytes

    def end(self, most_bytes: float, moved_bytes: float, now_s: float) -> None:
        """Book what it moved in place of that; `now_s` does not go back."""
        self._open -= most_bytes
        self._total += moved_bytes
        self._ended.append((now_s + DAY_S, moved_bytes))

    def room_s(self, wanted_bytes: float, now_s: float) -> float:
        """When this much may be booked if nothing else is; `now_s` or later.

        Infinite while measurements that have not ended leave no room.
        """
        left = self.booked_bytes(now_s) + wanted_bytes - self.bound_bytes
        if left <= 0:
            return now_s
        for until_s, moved_bytes in self._ended:
            left -= moved_bytes
            if left <= 0:
                return until_s
        return float("inf")
