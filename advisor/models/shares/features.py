"""What a model's throughput is regressed on: equations 1, 2, 4, 9 and 10.

Throughputs and loads are in Mbit/s inside, as in the paper, whose loads are adjusted by a logarithm
that depends on the unit.

What the paper leaves open: a load of 0 has no logarithm (equation 11), and one of less than
1 Mbit/s has one of the other sign. Both count as no load at all.
"""

import math
from enum import StrEnum
from typing import Final

MEGA: Final = 1e6
_LARGEST: Final = 100.0
"""Of a load's logarithm: small exponents of the load make large loads of small errors."""

_LEAST_EXPONENT: Final = 0.05
"""Of DC: the least in table IV is 0.08."""


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
    """What is taken for the external load of a transfer that gave T."""

    NONE = "no load"
    EL1 = "EL1"
    """T less the average of those with the same DC and SC (equation 6)."""
    EL2 = "EL2"
    """T less the most of them (equation 7)."""
    EL3 = "EL3"
    """T as a share of the most of them (equation 8)."""


def load_of(load: Load, mbps: float, alike_mbps: list[float]) -> float:
    """The external load of a transfer, from all with its DC and SC, itself among them."""
    match load:
        case Load.EL1:
            return mbps - sum(alike_mbps) / len(alike_mbps)
        case Load.EL2:
            return mbps - max(alike_mbps)
        case Load.EL3:
            return mbps / max(alike_mbps)
        case Load.NONE:
            return 0.0


def row_of(form: Form, concurrency: float, source_concurrency: float) -> list[float]:
    """The features but for the load."""
    match form:
        case Form.LINEAR:
            return [concurrency, source_concurrency]
        case Form.RATIO:
            return [concurrency / source_concurrency]
        case Form.LOG:
            return [math.log2(source_concurrency), math.log2(concurrency)]
        case Form.DC_ONLY:
            return [concurrency]
        case Form.SC_ONLY:
            return [source_concurrency]
        case Form.MEAN:
            return []


def least_weights(form: Form) -> list[float]:
    """Below which no fitted weight of these features may be: a file more costs nobody throughput.

    By chance few measurements may say so, and a plan that believes it never finds out.
    """
    match form:
        case Form.LINEAR:
            return [0.0, -math.inf]
        case Form.RATIO | Form.DC_ONLY:
            return [0.0]
        case Form.LOG:
            return [-math.inf, _LEAST_EXPONENT]
        case Form.SC_ONLY:
            return [-math.inf]
        case Form.MEAN:
            return []


def load_feature(form: Form, load: Load, value: float) -> float:
    """The load as the form has it: the exponent's base in equation 11, as a logarithm."""
    if form is not Form.LOG or load is Load.NONE:
        return value
    if load is Load.EL3:
        return math.log2(value)
    return math.copysign(math.log2(max(1.0, abs(value))), value)


def target_of(form: Form, mbps: float) -> float:
    """What is regressed."""
    return math.log2(mbps) if form is Form.LOG else mbps


def mbps_of(form: Form, target: float) -> float:
    """The reverse; never below a bit a second, which a straight line may be."""
    return max(1 / MEGA, math.exp2(target) if form is Form.LOG else target)


def load_value(form: Form, load: Load, feature: float) -> float:
    """The load whose feature this is."""
    if form is not Form.LOG or load is Load.NONE:
        return feature
    if load is Load.EL3:
        return math.exp2(min(feature, _LARGEST))
    return math.copysign(math.exp2(min(abs(feature), _LARGEST)), feature) if feature else 0.0
