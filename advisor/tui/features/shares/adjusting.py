"""Changes the request of a destination by keys and mouse. Pure."""

import math
from collections.abc import Callable, Mapping
from typing import Final

from advisor.domain.shares import Asked
from advisor.models.shares.allocation import MOST_CONCURRENCY

STEP: Final = 1
LARGE_STEP: Final = 5
_NUMBERS: Final = (0.01, 9900.0)
_RATES_BPS: Final = (1e3, 9.9e12)
_MOST_OF_ALL: Final = 0.97
"""A share of 100 % would leave nothing for the others."""

_UNITS: Final = ((1e12, "Tbit"), (1e9, "Gbit"), (1e6, "Mbit"), (1e3, "kbit"))
# Two significant digits: a step changes the second one, in every decade.
_IN_A_DECADE: Final = 90


def typed(asked: Asked) -> str:
    """The request as it would be typed."""
    if asked.held is not None:
        return f"@{asked.held}"
    if asked.factor is not None:
        return f"x{asked.factor:g}"
    if asked.share is not None:
        return f"{asked.share:g}"
    return _typed_rate(asked.rate_bps or 0.0)


def _typed_rate(rate_bps: float) -> str:
    unit_bps, unit = next((one for one in _UNITS if rate_bps >= one[0]), _UNITS[-1])
    return f"{rate_bps / unit_bps:.4g}{unit}"


def one_step(asked: Asked, by: int) -> Asked:
    """The request changed by this many steps: of the second digit, or of files at a time."""
    if asked.held is not None:
        most = max(MOST_CONCURRENCY, asked.held)
        return Asked(held=min(most, max(1, asked.held + by)))
    return _with(asked, _stepped(asked.share or asked.factor or asked.rate_bps or 0.0, by))


def _stepped(value: float, by: int) -> float:
    power = math.floor(math.log10(value) + 1e-9) - 1
    ordinal = _IN_A_DECADE * power + round(value / 10.0**power) - 10 + by
    power, digits = divmod(ordinal, _IN_A_DECADE)
    return _rounded((10 + digits) * 10.0**power)


def _rounded(value: float) -> float:
    """To two digits."""
    return float(f"{value:.2g}")


def _with(asked: Asked, value: float) -> Asked:
    """A request of the same kind with this value."""
    low, high = _RATES_BPS if asked.rate_bps is not None else _NUMBERS
    value = min(high, max(low, value))
    if asked.rate_bps is not None:
        return Asked(rate_bps=value)
    return Asked(share=value) if asked.share is not None else Asked(factor=value)


def dragged(
    asked: Mapping[str, Asked],
    destination: str,
    rate_bps: float,
    expected_bps: Mapping[str, float],
    asked_bps: Mapping[str, float],
    rate_at: Callable[[int], float],
) -> Asked:
    """A request of the same kind, such that it amounts to this rate.

    `expected_bps`, `asked_bps`: of all in the present plan. `rate_at`: the expected rate by files
    at a time.
    """
    one = asked[destination]
    if one.rate_bps is not None:
        return _with(one, _rounded(rate_bps))
    if one.held is not None:
        levels = range(1, MOST_CONCURRENCY + 1)
        return Asked(held=min(levels, key=lambda level: abs(rate_at(level) - rate_bps)))
    if one.factor is not None:
        usual_bps = asked_bps[destination] / one.factor
        return _with(one, _rounded(rate_bps / usual_bps))
    share = _share_of(rate_bps, destination, asked, expected_bps)
    return one if share is None else _with(one, share)


def _share_of(
    rate_bps: float,
    destination: str,
    asked: Mapping[str, Asked],
    expected_bps: Mapping[str, float],
) -> float | None:
    """Its share beside the others', of the total for shares; None if it is the only one."""
    shares = {name: one.share for name, one in asked.items() if one.share is not None}
    all_bps = sum(expected_bps[name] for name in shares)
    others = sum(share for name, share in shares.items() if name != destination)
    if not others:
        return None
    part = min(_MOST_OF_ALL, max(0.0, rate_bps / all_bps))
    return _rounded(others * part / (1 - part))
