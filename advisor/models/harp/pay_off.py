"""From what size on a sample transfer pays off (HARP 2018, equations 6 to 8, table 2).

Without the sample D bytes take t₀ = D / Thr₀ (6). With it they take
t_H = (D − D_S) / Thr_H + D_S / Thr_S + c (7), where the sample moves D_S bytes of the D at Thr_S
and the optimiser takes c; a sample of 15 s makes this (D − 15·Thr_S) / Thr_H + 15 + c (8). Table 2
has the D for which both are the same, with c = 0: all of its nine rows come out to the digit.
"""

import math
from typing import Final

import msgspec

from advisor.domain.quantities import format_bytes, format_duration

SAMPLE_S: Final = 15.0
"""The maximum duration of the paper's adaptive samples, in s."""


class PayOff(msgspec.Struct, frozen=True, kw_only=True):
    """The three rates of equations 6 to 8, in bit/s, all above zero.

    `plain_bps`: without HARP. `tuned_bps`: with its setting. `sample_bps`: during the sample.
    `sample_s`: duration of the sample. `optimiser_s`: the time between the sample and its answer.
    """

    plain_bps: float
    tuned_bps: float
    sample_bps: float
    sample_s: float = SAMPLE_S
    optimiser_s: float = 0.0

    def plain_s(self, total_bytes: float) -> float:
        """The transfer's duration without a sample (equation 6)."""
        return total_bytes * 8 / self.plain_bps

    def with_sample_s(self, total_bytes: float) -> float:
        """The duration with a sample (equation 8); the sample moves part of the dataset."""
        rest_bits = total_bytes * 8 - self.sample_s * self.sample_bps
        if rest_bits <= 0:
            return total_bytes * 8 / self.sample_bps
        return rest_bits / self.tuned_bps + self.sample_s + self.optimiser_s

    @property
    def least_bytes(self) -> float:
        """The size from which on the sample pays off; infinite where it never does."""
        if self.tuned_bps <= self.plain_bps:
            return math.inf
        lost_bits = self.sample_s * (self.tuned_bps - self.sample_bps)
        lost_bits += self.optimiser_s * self.tuned_bps
        return max(0.0, lost_bits * self.plain_bps / (self.tuned_bps - self.plain_bps) / 8)

    def least_gain(self, total_bytes: float) -> float:
        """The relative gain in rate that the answer needs for this size to pay off.

        Infinite where the transfer would end before the answer came.
        """
        left_s = self.plain_s(total_bytes) - self.sample_s - self.optimiser_s
        if left_s <= 0:
            return math.inf
        moved_bits = self.sample_s * self.sample_bps
        return max(0.0, (total_bytes * 8 - moved_bits) / (left_s * self.plain_bps) - 1)

    def sentence(self, total_bytes: float) -> str:
        """Whether a sample pays off for this size, and on which condition."""
        size = format_bytes(total_bytes)
        gain = self.least_gain(total_bytes)
        if not math.isfinite(gain):
            return (
                f"{size} takes {format_duration(self.plain_s(total_bytes))} without a "
                f"sample: one of {format_duration(self.sample_s)} cannot pay off."
            )
        needed = f"its answer is at least {math.ceil(gain * 100)} % faster than no sample"
        expected = self.tuned_bps / self.plain_bps - 1
        if total_bytes < self.least_bytes:
            return (
                f"With {size} the sample pays off only if {needed}; "
                f"{expected:.0%} is expected, which pays off {self._from_words}."
            )
        return f"With {size} the sample pays off if {needed}; {expected:.0%} is expected."

    @property
    def _from_words(self) -> str:
        least = self.least_bytes
        return f"from {format_bytes(least)} on" if math.isfinite(least) else "at no size"
