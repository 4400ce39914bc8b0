"""Figures of Kettimuthu et al. (2014); errors are shares, destinations as in its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from advisor.models.shares.estimating import LoadEstimation
from advisor.models.shares.features import Form, Load
from tests.benchmarks.shares.summary import Errors

DESTINATIONS: Final = ("blacklight", "gordon", "kraken", "mason", "yellowstone")


def _percents(*rows: str) -> dict[str, tuple[float, ...]]:
    """Of each destination one row."""
    return {
        name: tuple(float(one) / 100 for one in row.split())
        for name, row in zip(DESTINATIONS, rows, strict=True)
    }


WITHOUT_LOAD: Final = _percents(
    "17.26 17.36 14.04 14.79",
    "11.99 9.69 8.78 9.57",
    "17.31 16.60 16.20 15.75",
    "15.53 13.56 14.94 13.24",
    "12.02 13.68 8.97 10.57",
)
"""Table I: training and validation error, of the linear model and of that of logarithms."""

WITH_LOAD: Final = _percents(
    "14.14 15.32 12.46 9.76 12.73 8.80",
    "5.31 9.08 8.31 6.73 8.73 7.70",
    "12.04 13.37 10.67 11.98 13.34 9.33",
    "6.44 12.93 12.92 13.68 13.40 9.94",
    "9.21 11.41 10.22 8.11 9.41 8.23",
)
"""Table II: validation errors with EL1, EL2 and EL3, linear and of logarithms."""

TESTED: Final = _percents(
    "18.78 19.54 20.52 21.54 18.68 20.68",
    "12.51 9.14 9.65 13.36 9.18 10.06",
    "21.47 17.23 16.83 22.01 18.39 18.01",
    "16.77 13.31 14.07 18.48 18.64 20.70",
    "12.24 12.40 12.66 12.38 12.29 12.46",
)
"""Table III: EL1 with PT, RT and RTEC, then EL3 with each."""

FORMULAS: Final = {
    "blacklight": "DC^0.868 × AEL1{0.028} × 2^9.996 / SC^0.283",
    "gordon": "DC^0.823 × AEL1{0.019} × 2^13.221 / SC^0.877",
    "kraken": "DC^0.437 × AEL1{0.031} × 2^10.738 / SC^0.234",
    "mason": "DC^0.080 × AEL1{0.038} × 2^10.697 / SC^0.171",
    "yellowstone": "DC^0.788 × AEL1{0.015} × 2^12.884 / SC^0.724",
}
"""Table IV."""

FULL_MODEL: Final = 0.147
"""The mean error of LOG with EL1 and RTEC in the ablation study (section IV.D)."""

GAINS: Final[Mapping[tuple[Form, Load], str]] = {
    (Form.LOG, Load.NONE): "12 %",
    (Form.DC_ONLY, Load.NONE): "18 to 20 %",
    (Form.SC_ONLY, Load.NONE): "18 to 20 %",
    (Form.MEAN, Load.NONE): "47 %",
}
"""By how much the full model is better than these."""

BEST_PAIR: Final = (Form.LOG, Load.EL1, LoadEstimation.RTEC)

OVERALL: Final = Errors(mean=0.156, median=0.104, below_15=0.63, below_10=0.49)
"""`BEST_PAIR` in all ratio and factoring experiments (section V)."""

FOUR_PAIRS: Final = Errors(mean=0.198, median=0.138, below_15=0.54, below_10=0.38)
"""EL1 and EL3 with RT and RTEC, all four together (abstract)."""

FACTORING: Final = Errors(mean=None, median=None, below_15=0.836, below_10=0.655)
"""`BEST_PAIR` in the factoring experiments alone (section V)."""
