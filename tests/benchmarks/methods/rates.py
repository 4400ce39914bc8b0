"""SPSA with and without a unit in its gradient, on surfaces of one shape at four rates.

    python -m tests.benchmarks.methods.rates [--runs 200]

Buffers of 64 KiB to 64 MiB × 1 to 25 streams, both linear, as for TCP. A probe has a spread of
10 %. The table is Markdown, on standard output.
"""

import argparse
import math
import statistics
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from advisor import registry
from advisor.backtest.synthetic import tcp_bps
from advisor.domain.space import Parameter, Setting, Space
from advisor.methods.api import Knowledge
from advisor.testing.samples import measured

METHODS: Final = ("spsa", "spsa-probdata")
RATES_GBPS: Final = (0.1, 1, 10, 100)
PROBES: Final = (12, 24, 48)
_SPREAD: Final = 0.1
_RTT_S: Final = 0.0456
_SPACE: Final = Space(
    parameters=(
        Parameter(name="buffer_bytes", unit="B", lower=2**16, upper=2**26),
        Parameter(name="streams", unit="", lower=1, upper=25),
    ),
    cost_order=("streams", "buffer_bytes"),
)


def _places(setting: Setting) -> tuple[float, float]:
    first, second = (p.fraction_of(float(setting[p.name])) for p in _SPACE.parameters)
    return first, second


def peak(setting: Setting) -> float:
    """A round hill with its top at a third of both ranges."""
    return math.exp(-sum(((place - 1 / 3) / 0.3) ** 2 for place in _places(setting)))


def ridge(setting: Setting) -> float:
    """What matters is the product of buffer and streams; above the best it falls slowly."""
    octaves = math.log2(float(setting["buffer_bytes"]) * float(setting["streams"]) / 2**26)
    return math.exp(-((octaves / (2 if octaves < 0 else 4)) ** 2))


def lossy_tcp(setting: Setting) -> float:
    """Streams that loss limits, up to a full path; each stream more costs half a percent."""
    streams = int(setting["streams"])
    full_bps = tcp_bps(16, 2**62, _RTT_S, 1e-5)
    bps = tcp_bps(streams, float(setting["buffer_bytes"]), _RTT_S, 1e-5)
    return min(1.0, bps / full_bps) * 0.995**streams


SURFACES: Final[tuple[tuple[str, Callable[[Setting], float]], ...]] = (
    ("a peak", peak),
    ("a ridge", ridge),
    ("TCP with loss", lossy_tcp),
)


def top(surface: Callable[[Setting], float]) -> float:
    """The highest value, on a grid of 101 × 25."""
    return max(
        surface(_SPACE.setting_at({"buffer_bytes": i / 100, "streams": j / 24}))
        for i in range(101)
        for j in range(25)
    )


def reached(method: str, surface: Callable[[Setting], float], gbps: float, run: int) -> list[float]:
    """The true value of the best setting after each number of PROBES, as a share of the top."""
    search = registry.method(method).create(_SPACE, np.random.default_rng(run), Knowledge(), {})
    noise = np.random.default_rng([run, 1])
    shares = []
    for probe in range(1, PROBES[-1] + 1):
        if (setting := search.ask()) is not None:
            drawn = surface(setting) * noise.lognormal(0, _SPREAD)
            search.tell(setting, measured(gbps * 1e9 * drawn))
        if probe in PROBES:
            found = search.best()
            assert found is not None
            shares.append(surface(found[0]))
    best = top(surface)
    return [share / best for share in shares]


def lines(runs: int) -> Iterator[str]:
    """The table: the median (10th percentile) of the runs."""
    yield "| surface | Gbit/s | method | " + " | ".join(f"{n} probes" for n in PROBES) + " |"
    yield "|---|---|---|" + "---|" * len(PROBES)
    for name, surface in SURFACES:
        for gbps in RATES_GBPS:
            for method in METHODS:
                each = [reached(method, surface, gbps, run) for run in range(runs)]
                cells = []
                for shares in zip(*each, strict=True):
                    p10 = statistics.quantiles(shares, n=10)[0]
                    cells.append(f"{statistics.median(shares):.3f} ({p10:.3f})")
                yield f"| {name} | {gbps:g} | `{method}` | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    for line in lines(parser.parse_args().runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
