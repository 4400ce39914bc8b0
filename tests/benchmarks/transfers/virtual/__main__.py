"""Tuned transfers on made-up links, in virtual time.

    python -m tests.benchmarks.transfers.virtual                    all, to the page
    python -m tests.benchmarks.transfers.virtual --links 4 --seed 9 others, printed only

No network and no clock: minutes of computing, the same figures each time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

import numpy as np

from tests.benchmarks.markdown import filled, table_text
from tests.benchmarks.transfers.virtual.compare import (
    DEFAULT,
    SECONDS,
    Contestant,
    best_static_bytes,
    fixed_bytes,
    links,
    tool_bytes,
)
from tests.benchmarks.transfers.virtual.links import CONTROLS
from tests.benchmarks.transfers.virtual.together import together_text
from tests.benchmarks.wan.hosts import ROOT

_PAGE: Final = ROOT / "docs/benchmarks-transfers-virtual.md"
_STATIC_SEEDS: Final = (1, 2)
_SEEDS: Final = (101, 102, 103)
_PAPER_EPOCH_S: Final = 30.0
_BUSY_S: Final = 240.0
_NAMES: Final = (
    "doubling",
    "bayes",
    "nelder-mead",
    "compass",
    "coordinate-descent",
    "heur1",
    "heur2",
)
_CONTESTANTS: Final = (
    *(Contestant(name) for name in _NAMES),
    *(Contestant(name, _PAPER_EPOCH_S) for name in ("doubling", "nelder-mead", "compass")),
)


def _shares(
    control: str, count: int, seed: int, *, loaded: bool = False, busy: bool = False
) -> dict[str, list[float]]:
    """By contestant, its share on every link: of the best fixed setting's bytes, or the tool's."""
    found: dict[str, list[float]] = {}
    seconds = _BUSY_S if busy else SECONDS
    for link in links(control, count, seed, loaded=loaded, busy=busy):
        if loaded or busy:
            best = best_static_bytes(link, _STATIC_SEEDS, seconds)
        else:
            best = tool_bytes(link, _STATIC_SEEDS)
        default = fixed_bytes(DEFAULT, link, _STATIC_SEEDS, seconds) / best
        found.setdefault("2 × 8, fixed", []).append(default)
        for one in _CONTESTANTS:
            epochs = "" if one.epoch_s is None else f", epochs of {one.epoch_s:g} s"
            name = f"`{one.method}`{epochs}"
            found.setdefault(name, []).append(one.share(link, best, _SEEDS, seconds))
    return found


def _table(by_control: dict[str, dict[str, list[float]]]) -> str:
    head = ["", *(f"{control}: least, 10 %, median" for control in by_control)]
    names = next(iter(by_control.values()))
    rows = [[name, *(_words(shares[name]) for shares in by_control.values())] for name in names]
    return table_text(head, rows)


def _words(shares: Sequence[float]) -> str:
    return f"{min(shares):.2f}, {np.quantile(shares, 0.1):.2f}, {np.median(shares):.2f}"


def _text(count: int, seed: int) -> str:
    loaded, alone = (
        {control: _shares(control, count, seed, loaded=is_loaded) for control in CONTROLS}
        for is_loaded in (True, False)
    )
    few = max(1, count // 2)
    busy = {control: _shares(control, few, seed, busy=True) for control in CONTROLS}
    intro = filled(
        "`python -m tests.benchmarks.transfers.virtual`. What a tuned transfer moves in its first "
        f"60 s on made-up links, {count} for each congestion control, {len(_SEEDS)} runs on each, "
        f"seed {seed}: the least, the 10 % quantile and the median over the links. Where no epoch "
        "is named, epochs end when their difference is decided. It is a simulation: flows share "
        "the bottleneck by their number, new ones come to their share in 0.4 to 5 s, every client "
        "of 4 s makes new ones, and the rate varies by 10 to 20 % over 1 to 8 s. Tuners do not "
        "know the bottleneck's rate. No history or advice says where to start."
    )
    under = filled(
        "4 to 128 competing flows. Shares of what the best of 28 fixed settings moves, chosen with "
        "hindsight for each link. The goal is 0.85."
    )
    without = filled(
        "Shares of what the tool moves by itself at 2 × 8. The goal is 0.97. On links where one "
        "flow's window is small more flows gain."
    )
    computing = filled(
        f"Without competing flows, {few} links for each congestion control, {_BUSY_S:g} s. The "
        "rate varies by 20 to 60 % over 4 to 32 s, and clients take longer to begin the more of "
        "them begin together. Shares as under load: of the best of the fixed settings, whose "
        "hindsight includes luck here."
    )
    return "\n\n".join(
        [
            "# Tuned transfers in virtual time",
            intro,
            "## Under load",
            under,
            _table(loaded),
            "## Without load",
            without,
            _table(alone),
            "## Between hosts that also compute",
            computing,
            _table(busy),
            "## Two on one link",
            together_text(max(1, count // 4), seed),
        ]
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--links", type=int, help="of each control; printed, not written")
    parser.add_argument("--seed", type=int, default=2016, help="[2016]")
    options = parser.parse_args()
    text = _text(options.links or 16, options.seed) + "\n"
    if options.links:
        print(text)
    else:
        _PAGE.write_text(text)


main()
