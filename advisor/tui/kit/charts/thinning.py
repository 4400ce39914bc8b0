"""A curve over time with a bounded number of points. Pure."""

from typing import Final, Literal

_MOST: Final = 480
"""More than the widest terminal resolves in braille, so that thinning is invisible."""


class Thinned:
    """`add` values in the order of time; `points` has at most `most` of them.

    Time is divided into spans, of `span_s` at first. A span has one point: the mean of its times
    and values, or the `last` one at its time. When there are too many spans, pairs are merged.
    """

    def __init__(
        self, keep: Literal["mean", "last"] = "mean", *, most: int = _MOST, span_s: float = 1.0
    ) -> None:
        """`most`: two at least."""
        self._keeps_last = keep == "last"
        self._most = most
        self._span_s = span_s
        # Of each span: its number, the sums of its times and values, and their count.
        self._spans: list[tuple[int, float, float, int]] = []

    @property
    def points(self) -> list[tuple[float, float]]:
        """(seconds, value) of each span that has values."""
        return [(times / count, values / count) for _, times, values, count in self._spans]

    def add(self, at_s: float, value: float) -> None:
        """Take the next value."""
        self._put(int(at_s // self._span_s), at_s, value, 1)
        while len(self._spans) > self._most:
            self._span_s *= 2
            spans, self._spans = self._spans, []
            for number, times, values, count in spans:
                self._put(number // 2, times, values, count)

    def _put(self, number: int, times: float, values: float, count: int) -> None:
        if not self._spans or self._spans[-1][0] != number:
            self._spans.append((number, times, values, count))
            return
        _, old_times, old_values, old_count = self._spans[-1]
        if self._keeps_last:
            self._spans[-1] = (number, times, values, count)
        else:
            self._spans[-1] = (number, old_times + times, old_values + values, old_count + count)
