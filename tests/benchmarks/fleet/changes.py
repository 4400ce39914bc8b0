"""False alarms and delays of the test for changes, on simulated pairs.

python -m tests.benchmarks.fleet.changes [PAIRS]
"""

import sys
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from advisor.models.change_point import ChangeTest, Verdict

YEAR: Final = 365
HISTORIES: Final = (3, 5, 10, 30)
FACTORS: Final = (0.8, 0.5, 1.5)
Noise = Callable[[np.random.Generator, int], NDArray[np.float64]]


def _normal(spread: float) -> Noise:
    return lambda rng, records: rng.normal(0.0, spread, records)


def _student(spread: float) -> Noise:
    """Three degrees of freedom, with this standard deviation."""
    return lambda rng, records: spread / np.sqrt(3) * rng.standard_t(3, records)


def _contended(spread: float) -> Noise:
    """One record in twenty is slowed by others' traffic, to 40 to 90 %."""

    def draw(rng: np.random.Generator, records: int) -> NDArray[np.float64]:
        slowed = np.where(rng.random(records) < 0.05, np.log(rng.uniform(0.4, 0.9, records)), 0.0)
        return rng.normal(0.0, spread, records) + slowed

    return draw


def _correlated(spread: float) -> Noise:
    """Each record resembles the one before: correlation 0.2."""

    def draw(rng: np.random.Generator, records: int) -> NDArray[np.float64]:
        fresh = rng.normal(0.0, spread, records)
        for n in range(1, records):
            fresh[n] = 0.2 * fresh[n - 1] + np.sqrt(1 - 0.04) * fresh[n]
        return fresh

    return draw


NOISES: Final[dict[str, Noise]] = {
    "normal, 5 %": _normal(0.05),
    "normal, 15 %": _normal(0.15),
    "Student's with 3 degrees, 10 %": _student(0.10),
    "10 %, one in twenty slowed": _contended(0.10),
    "correlated by 0.2, 10 %": _correlated(0.10),
}


def alarms(noise: Noise, pairs: int, records: int, seed: int) -> int:
    """How many changes are called where there is none."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(pairs):
        test = ChangeTest()
        for value in noise(rng, records):
            found += test.tell(1e9 * float(np.exp(value))) is Verdict.CHANGED
    return found


def delays(noise: Noise, factor: float, before: int, pairs: int, seed: int) -> list[int]:
    """How many records after a change it takes to call it; 100 for not within that many.

    Histories with a false alarm before the change are left out.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(pairs):
        test = ChangeTest()
        values = noise(rng, before + 100)
        if any(
            test.tell(1e9 * float(np.exp(value))) is Verdict.CHANGED for value in values[:before]
        ):
            continue
        late = (
            number
            for number, value in enumerate(values[before:], 1)
            if test.tell(factor * 1e9 * float(np.exp(value))) is Verdict.CHANGED
        )
        found.append(next(late, 100))
    return found


def main() -> None:
    """Print both tables."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"False alarms, of {pairs} pairs with {YEAR} records each")
    print("| noise | per pair and year, daily | weekly | records for one |")
    print("|---|---|---|---|")
    for name, noise in NOISES.items():
        rate = alarms(noise, pairs, YEAR, 1) / (pairs * YEAR)
        every = f"{1 / rate:,.0f}" if rate else f"> {pairs * YEAR:,}"
        print(f"| {name} | {rate * YEAR:.3f} | {rate * 52:.3f} | {every} |")
    print()
    print(f"Records until a change is called, of {pairs // 4} pairs: median (90 % within)")
    heads = [f"{factor:.0%}, {before} before" for factor in FACTORS for before in HISTORIES]
    print(f"| noise | {' | '.join(heads)} |")
    print("|---|" + "---|" * len(heads))
    for name, noise in NOISES.items():
        cells = []
        for factor in FACTORS:
            for before in HISTORIES:
                late = delays(noise, factor, before, pairs // 4, 2)
                median, most = np.quantile(late, [0.5, 0.9], method="higher")
                words = ["> 99" if n >= 100 else f"{n:.0f}" for n in (median, most)]
                cells.append(f"{words[0]} ({words[1]})")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
