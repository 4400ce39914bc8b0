"""The table of two tuned transfers that share a link, with a price and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tests.benchmarks.markdown import filled, table_text
from tests.benchmarks.transfers.virtual.compare import links
from tests.benchmarks.transfers.virtual.links import CONTROLS
from tests.benchmarks.transfers.virtual.two import (
    FAIR,
    JOINS_S,
    LASTS_S,
    STAYS_S,
    WINDOW_S,
    Outcome,
    share_link,
)

_METHODS: Final = ("doubling", "bayes", "nelder-mead", "compass")
_PRICES: Final = (None, 0.02)
_HEAD: Final = (
    "",
    "price",
    "Jain's index: least, median",
    "converged in: median, 90 %",
    "never",
    "of the link's rate",
    "flows of both",
)


def together_text(count: int, seed: int) -> str:
    """`count` links for each congestion control, one run on each."""
    paths = [
        (link, number)
        for control in CONTROLS
        for loaded in (False, True)
        for number, link in enumerate(links(control, count, seed, loaded=loaded))
    ]
    rows = [
        [f"`{method}`", "–" if price is None else f"{price:.0%}", *_cells(found)]
        for method in _METHODS
        for price in _PRICES
        for found in [[share_link(method, price, link, number) for link, number in paths]]
    ]
    about = filled(
        f"Both tune themselves with the same method; the second begins {JOINS_S:g} s after the "
        f"first, and both run until {LASTS_S:g} s. {len(paths)} links ({count} for each congestion "
        "control without load, and as many with 4 to 128 competing flows), one run on each. "
        "Jain's index, of both rates, and the medians of the link's rate that both have together "
        f"and of their flows are those of the last third. Converged: the index over {WINDOW_S:g} s "
        f"reaches {FAIR:g} and stays there for {STAYS_S:g} s, counted from the second one's start. "
        f"*never* counts the links where it does not. The goal is {FAIR:g} with a price."
    )
    return about + "\n\n" + table_text(list(_HEAD), rows)


def _cells(found: Sequence[Outcome]) -> list[str]:
    jain = [one.jain for one in found]
    converged = [one.converged_s for one in found if one.converged_s is not None]
    times = f"{np.median(converged):.0f} s, {np.quantile(converged, 0.9):.0f} s"
    return [
        f"{min(jain):.3f}, {np.median(jain):.3f}",
        times if converged else "–",
        str(len(found) - len(converged)),
        f"{np.median([one.share for one in found]):.2f}",
        f"{np.median([one.flows for one in found]):.0f}",
    ]
