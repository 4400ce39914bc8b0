"""The features and targets of the regression: equations 1, 2, 4, 9 and 10.

Parallelism is a variable of its own in the form of logarithms: the throughput of x files with y
streams each is not that of y files with x (section III, figures 5 and 6), so a product of both does
not do. DT = SC^a DC^b P^c (F/SC)^d 2^e, P being the streams of each file of the destination and F
the streams to all. The paper holds them at eight, and then the formula is the paper's.

Throughputs and loads are in Mbit/s internally, as in the paper, which adjusts loads by a logarithm
that depends on the unit.

The paper leaves open: a load of 0 has no logarithm (equation 11), and that of a load below 1 Mbit/s
has the opposite sign. Both count as no load at all.
"""

import math
from enum import StrEnum
from typing import Final

from advisor.domain.shares import Streams

MEGA: Final = 1e6
_LARGEST: Final = 100.0
"""Upper bound of a load's logarithm: small exponents turn small errors into large loads."""

_LEAST_EXPONENT: Final = 0.05
"""Lower bound of the exponent of DC: the smallest in table IV is 0.08."""


class Form(StrEnum):
    """How throughput depends on concurrency. The last three are for the ablation study."""

    LINEAR = "linear"
    """DT = a DC + b SC + c (equations 1 and 9)."""
    RATIO = "ratio"
    """DT = a DC/SC + c (equation 2)."""
    LOG = "log"
    """DT = SC^a DC^b 2^c (equations 4, 5 and 10)."""
    DC_ONLY = "DC only"
    SC_ONLY = "SC only"
    MEAN = "mean only"


class Load(StrEnum):
    """The definition of the external load of a transfer with throughput T."""

    NONE = "no load"
    EL1 = "EL1"
    """T minus the mean of those with the same DC and SC (equation 6)."""
    EL2 = "EL2"
    """T minus their maximum (equation 7)."""
    EL3 = "EL3"
    """T as a fraction of their maximum (equation 8)."""


def load_of(load: Load, mbps: float, alike_mbps: list[float]) -> float:
    """The external load of a transfer, given all with its DC and SC, including itself."""
    match load:
        case Load.EL1:
            return mbps - sum(alike_mbps) / len(alike_mbps)
        case Load.EL2:
            return mbps - max(alike_mbps)
        case Load.EL3:
            return mbps / max(alike_mbps)
        case Load.NONE:
            return 0.0


def row_of(
    form: Form, concurrency: float, source_concurrency: float, streams: Streams | None = None
) -> list[float]:
    """The features other than the load. `streams`: only where they vary, for LOG alone."""
    match form:
        case Form.LINEAR:
            return [concurrency, source_concurrency]
        case Form.RATIO:
            return [concurrency / source_concurrency]
        case Form.LOG:
            plain = [math.log2(source_concurrency), math.log2(concurrency)]
            return [*plain, math.log2(streams.own), math.log2(streams.mean)] if streams else plain
        case Form.DC_ONLY:
            return [concurrency]
        case Form.SC_ONLY:
            return [source_concurrency]
        case Form.MEAN:
            return []


def least_weights(form: Form, *, has_streams: bool = False) -> list[float]:
    """Lower bounds of the fitted weights: one more file never reduces a destination's throughput.

    A few measurements may suggest that by chance, and a plan based on it would never correct it.
    More streams may reduce it: hosts have more to do with each.
    """
    match form:
        case Form.LINEAR:
            return [0.0, -math.inf]
        case Form.RATIO | Form.DC_ONLY:
            return [0.0]
        case Form.LOG:
            return [-math.inf, _LEAST_EXPONENT] + [-math.inf] * (2 if has_streams else 0)
        case Form.SC_ONLY:
            return [-math.inf]
        case Form.MEAN:
            return []


def load_feature(form: Form, load: Load, value: float) -> float:
    """The load as used by the form: the logarithm in equation 11."""
    if form is not Form.LOG or load is Load.NONE:
        return value
    if load is Load.EL3:
        return math.log2(value)
    return math.copysign(math.log2(max(1.0, abs(value))), value)


def target_of(form: Form, mbps: float) -> float:
    """The regression target."""
    return math.log2(mbps) if form is Form.LOG else mbps


def mbps_of(form: Form, target: float) -> float:
    """The inverse; never below one bit per second, which a linear model may predict."""
    return max(1 / MEGA, math.exp2(target) if form is Form.LOG else target)


def load_value(form: Form, load: Load, feature: float) -> float:
    """The load with this feature."""
    if form is not Form.LOG or load is Load.NONE:
        return feature
    if load is Load.EL3:
        return math.exp2(min(feature, _LARGEST))
    return math.copysign(math.exp2(min(abs(feature), _LARGEST)), feature) if feature else 0.0
