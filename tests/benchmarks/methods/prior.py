"""bayes's PRIOR, derived from recorded tables.

    python -m tests.benchmarks.methods.prior

Prints the content of plugins/methods/bayes/prior.py, and what it is without each of the files.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor import registry
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell
from tests.benchmarks.methods.tables import Trouble, by_source, data_folder, grid_tables

Term: TypeAlias = tuple[str, ...]
Row: TypeAlias = tuple[float, float, float]
"""Mean for files of 32 MiB, change for files 32 times as large, deviation between conditions."""

_OCTAVES = 5.0
_TYPICAL_FILE_BYTES = 2.0**25


def derive(tables: Sequence[RecordedTable]) -> dict[Term, Row]:
    """The prior that these tables teach: of one space, at least three, files counted.

    Each table's φ is fitted to the logarithms of its cells' medians by least squares. Then each
    coefficient goes over the logarithm of file size, with one table's weight for "it does not
    matter".
    """
    coefficients = np.array([_coefficients(table) for table in tables])
    sizes = np.array([_size(table) for table in tables])
    x = np.stack([np.ones(len(sizes)), sizes], axis=1)
    lines = np.linalg.solve(x.T @ x + np.diag([0.0, 1.0]), x.T @ coefficients)
    off = coefficients - x @ lines
    deviations = np.sqrt((off**2).sum(axis=0) / (len(tables) - 2))
    rows = zip(lines[0].tolist(), lines[1].tolist(), deviations.tolist(), strict=True)
    return dict(zip(_terms(tables[0]), rows, strict=True))


def without(tables: Sequence[RecordedTable], source: str) -> list[RecordedTable]:
    """The tables of all other files."""
    return [table for table in tables if table.source != source]


def prior_of_bayes() -> Any:
    """The module of the prior that the registry loaded; importing the file would give another."""
    return sys.modules[f"{type(registry.method('bayes')).__module__}.prior"]


@contextmanager
def shipping(prior: Mapping[Term, Row]) -> Iterator[None]:
    """bayes ships this prior meanwhile."""
    module = prior_of_bayes()
    before = module.PRIOR
    module.PRIOR = dict(prior)
    try:
        yield
    finally:
        module.PRIOR = before


def _terms(table: RecordedTable) -> list[Term]:
    names = [p.name for p in table.space.parameters]
    return [(n,) for n in names] + list(itertools.combinations_with_replacement(names, 2))


def _coefficients(table: RecordedTable) -> NDArray[np.float64]:
    rates_bps = {cell: rate for cell, rate in table.rates_bps.items() if rate > 0}
    phi = _features(list(rates_bps))
    y = np.log(list(rates_bps.values()))
    fit: NDArray[np.float64] = np.linalg.lstsq(phi - phi.mean(axis=0), y - y.mean(), rcond=None)[0]
    return fit


def _features(cells: Sequence[Cell]) -> NDArray[np.float64]:
    t = (2 * np.log2(np.array(cells, dtype=float)) / _OCTAVES - 1).T
    second = [
        1.5 * t[i] ** 2 - 0.5 if i == j else t[i] * t[j]
        for i, j in itertools.combinations_with_replacement(range(len(t)), 2)
    ]
    columns: NDArray[np.float64] = np.stack([*t, *second], axis=1)
    return columns


def _size(table: RecordedTable) -> float:
    file_bytes = table.knowledge().mean_file_bytes
    if file_bytes is None:
        raise Trouble(f"{table.name} does not say how large its files were: leave it out")
    return math.log2(file_bytes / _TYPICAL_FILE_BYTES) / _OCTAVES


def differences(prior: Mapping[Term, Row]) -> list[str]:
    """The figures in which a prior is not, to two decimals, what bayes ships."""
    shipped: Mapping[Term, Row] = prior_of_bayes().PRIOR
    return [
        f"{' × '.join(term)}: {_figures(row)} derived, {_figures(shipped[term])} shipped"
        for term, row in prior.items()
        if term not in shipped or _figures(row) != _figures(shipped[term])
    ]


def _figures(row: Row) -> str:
    return "({})".format(", ".join(f"{round(value, 2) + 0.0:.2f}" for value in row))


def _print(prior: Mapping[Term, Row]) -> None:
    for term, row in prior.items():
        print(f"    {term!r}: {_figures(row)},".replace("'", '"'))


def main() -> None:
    try:
        tables = grid_tables(data_folder())
    except Trouble as trouble:
        sys.exit(f"prior: {trouble}")
    prior = derive(tables)
    print(f"# all {len(tables)} conditions")
    _print(prior)
    print("# " + ("; ".join(differences(prior)) or "the same as bayes ships"))
    for source in by_source(tables):
        print(f"# without {source}")
        _print(derive(without(tables, source)))


if __name__ == "__main__":
    main()
