"""Whether a first search by bayes is better off with the reference profiles of emulated paths.

    python -m tests.benchmarks.methods.reference_prior [SEEDS]

Paths of 1 Gbit/s that no reference was measured on: five RTTs between the references', five shares
of loss, two limits of autotuning; TCP by Mathis et al. 1997 (backtest/synthetic.py), probes 12 %
around the truth. For each, a search of 12 probes over buffers and streams with the shipped prior
alone, and one that begins from the two nearest references. Printed is the rate of what it
recommends after so many probes ÷ the best of the grid: the mean over the 50 paths, and the worst.
"""

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from advisor import registry
from advisor.advising.prior_knowledge import surfaces_of, typical_probes
from advisor.backtest.synthetic import tcp_bps
from advisor.domain.space import Parameter, Scale, Setting, Space
from advisor.methods.api import Knowledge, PastSurface
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles
from advisor.store.profiles import emulated_like
from advisor.testing.samples import measured

CAPACITY_BPS: Final = 1e9
USABLE: Final = 0.95
RTTS_S: Final = (0.015, 0.03, 0.06, 0.12, 0.25)
LOSSES: Final = (0.0, 1e-6, 1e-5, 1e-4, 1e-3)
AUTOTUNED_BYTES: Final = (2**22, 2**26)
AFTER: Final = (1, 2, 3, 4, 5, 6, 8, 12)
_SPREAD: Final = 0.12
_BUFFERS: Final = tuple(2**power for power in range(16, 25))
_STREAMS: Final = range(1, 26)
SPACE: Final = Space(
    parameters=(
        Parameter(
            name="buffer_bytes",
            unit="B",
            lower=_BUFFERS[0],
            upper=_BUFFERS[-1],
            scale=Scale.LOG2,
            automatic=True,
        ),
        Parameter(name="streams", unit="", lower=_STREAMS[0], upper=_STREAMS[-1]),
    ),
    cost_order=("streams", "buffer_bytes"),
)


def truth_bps(setting: Setting, rtt_s: float, loss: float, autotuned_bytes: int) -> float:
    """The rate of a setting; the kernel takes half of an autotuned buffer for bookkeeping."""
    buffer_bytes = int(setting["buffer_bytes"]) or autotuned_bytes / 2
    rate_bps = tcp_bps(int(setting["streams"]), buffer_bytes, rtt_s, loss)
    return min(USABLE * CAPACITY_BPS, rate_bps)


def course(
    path: tuple[float, float, int], surfaces: Sequence[PastSurface], seed: int
) -> list[float]:
    """The share of the best that is recommended after each of AFTER."""
    grid = itertools.product((0, *_BUFFERS), _STREAMS)
    best_bps = max(truth_bps({"buffer_bytes": b, "streams": n}, *path) for b, n in grid)
    rng = np.random.default_rng([seed, 1])
    method = registry.method("bayes").create(
        SPACE, np.random.default_rng([seed, 0]), Knowledge(surfaces=tuple(surfaces)), {}
    )
    shares: list[float] = []
    while len(shares) < AFTER[-1] and (setting := method.ask()) is not None:
        factor = rng.lognormal(-(_SPREAD**2) / 2, _SPREAD)
        method.tell(setting, measured(truth_bps(setting, *path) * factor))
        recommended = method.recommended()
        shares.append(truth_bps(recommended[0], *path) / best_bps if recommended else 0.0)
    return [shares[min(number, len(shares)) - 1] for number in AFTER]


def main(seeds: int) -> None:
    """Print a line for each prior."""
    store = Store(Path("/nonexistent"), shipped_profiles())
    rows: dict[str, list[list[float]]] = {"shipped prior alone": [], "with references": []}
    for path in itertools.product(RTTS_S, LOSSES, AUTOTUNED_BYTES):
        near = emulated_like(store, path[0], CAPACITY_BPS)
        probes = [p for one in near for p in typical_probes(one.probes) if p.subject == "tcp"]
        for name, surfaces in zip(rows, ((), surfaces_of(probes)), strict=True):
            rows[name].append(np.mean([course(path, surfaces, s) for s in range(seeds)], axis=0))
    print(f"{seeds} seeds; after", *AFTER, "probes: mean (worst path)")
    for name, found in rows.items():
        mean, worst = np.mean(found, axis=0), np.min(found, axis=0)
        print(f"{name}:", ", ".join(f"{m:.3f} ({w:.2f})" for m, w in zip(mean, worst, strict=True)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
