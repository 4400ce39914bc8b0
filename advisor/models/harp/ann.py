"""ANN+OT: levels from a neural model of throughput and one sample, to compare HARP with.

HARP (2018, sections 4 and 5) says of Nine, Guner and Kosar (2015) that it "uses historical data to
derive a model that relates transfer metrics to transfer throughput" and then probes "to capture the
current network status". Here the inputs of a multi-layer perceptron are the similar entries'
features and levels, and the load of their group: the group's throughput at the sample's levels, for
which the sample itself is used in the end. The answer is the best levels on a grid of powers of
two; they are not relaxed.
"""

import importlib.util
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.domain.availability import AVAILABLE, Availability
from advisor.domain.transfers import Conditions, Levels
from advisor.models.harp.entries import Floats, History, Indices, features_of
from advisor.models.harp.grouping import groups
from advisor.models.harp.optimiser import SampleTransfer, carried_bps
from advisor.models.harp.optimum import LevelBounds, levels_of_row, row_of
from advisor.models.harp.similar import LOGARITHMIC, similar

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

LEAST_ENTRIES: Final = 20
_HIDDEN: Final = (16, 16)
_STEPS: Final = 200


@dataclass(frozen=True, kw_only=True)
class NeuralAnswer:
    """The levels, the throughput the model expects, and the number of training entries."""

    levels: Levels
    throughput_bps: float
    entries: int


@dataclass(frozen=True, eq=False, kw_only=True)
class _Model:
    """A network trained with `entries`; `target`: the requested conditions, in its own units.

    `lower`, `upper`: of the levels in the training data. `middle`, `spread`: of the rates' log2.
    """

    network: "Pipeline"
    target: Floats
    lower: Floats
    upper: Floats
    middle: float
    spread: float
    entries: int


def neural_available() -> Availability:
    """Whether scikit-learn, which trains the network, is installed."""
    if importlib.util.find_spec("sklearn") is not None:
        return AVAILABLE
    return Availability(
        "scikit-learn is not installed", "pip install 'data-transfer-advisor[learn]'"
    )


def neural_answer(
    wanted: Conditions,
    sample: SampleTransfer,
    history: History,
    bounds: LevelBounds,
    *,
    seed: int = 0,
    enough: int | None = None,
) -> NeuralAnswer:
    """The levels for a transfer. Raises ValueError with fewer than 20 past transfers.

    `seed`: of the network. `enough`: number of similar entries to look for, see `similar`.
    """
    model = _model(wanted, sample.levels, history, seed, enough)
    candidates = _candidates(bounds.nearest(model.lower), bounds.nearest(model.upper))
    asked = _inputs(
        np.repeat(model.target[None, :], len(candidates), axis=0),
        np.column_stack((candidates, np.full(len(candidates), sample.throughput_bps))),
    )
    expected = model.network.predict(asked)
    best = int(expected.argmax())
    throughput_bps = float(2.0 ** (expected[best] * model.spread + model.middle))
    return NeuralAnswer(
        levels=levels_of_row(candidates[best]),
        throughput_bps=min(throughput_bps, carried_bps(wanted, sample)),
        entries=model.entries,
    )


# The sample's throughput is an input, not training data: one model serves all samples here.
@lru_cache(maxsize=1)
def _model(
    wanted: Conditions, levels: Levels, history: History, seed: int, enough: int | None
) -> _Model:
    rows = similar(wanted, history, enough).rows
    if len(rows) < LEAST_ENTRIES:
        raise ValueError(
            f"a neural model needs {LEAST_ENTRIES} past transfers and there are {len(rows)}: "
            "use HARP, or run more transfers first"
        )
    target = _octaves(features_of(wanted))
    features, measured = _octaves(history.features[rows]), history.levels[rows]
    known = ~np.isnan(target) & _vary(features)
    loads = _loads(history, rows, levels)
    rates = np.log2(history.throughput_bps[rows])
    middle, spread = float(rates.mean()), float(rates.std()) or 1.0
    return _Model(
        network=_trained(
            _inputs(features[:, known], np.column_stack((measured, loads))),
            (rates - middle) / spread,
            seed,
        ),
        target=target[known],
        lower=measured.min(axis=0),
        upper=measured.max(axis=0),
        middle=middle,
        spread=spread,
        entries=len(rows),
    )


def _trained(inputs: Floats, rates: Floats, seed: int) -> "Pipeline":
    from sklearn.exceptions import ConvergenceWarning  # Imported late: it takes a second.
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPRegressor(
        hidden_layer_sizes=_HIDDEN, solver="lbfgs", max_iter=_STEPS, random_state=seed
    )
    model = make_pipeline(StandardScaler(), network)
    with warnings.catch_warnings():
        # The steps are limited to save time; the comparison uses whatever they reach.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(inputs, rates)


def _inputs(features: Floats, settings: Floats) -> Floats:
    """The network's inputs, as log2; missing values are replaced by the median."""
    octaves = np.column_stack((features, np.log2(settings)))
    missing = np.isnan(octaves)
    inputs: Floats = np.where(missing, np.nanmedian(octaves, axis=0), octaves)
    return inputs


def _vary(features: Floats) -> np.ndarray:
    """Which features differ among the entries: the network learns nothing from the others."""
    missing = np.isnan(features)
    highest = np.where(missing, -np.inf, features).max(axis=0)
    varied: np.ndarray = highest > np.where(missing, np.inf, features).min(axis=0)
    return varied


def _octaves(features: Floats) -> Floats:
    """The features on the scales they differ on; the class is linear already."""
    return np.where(LOGARITHMIC, np.log2(np.where(LOGARITHMIC, features, 1.0)), features)


def _loads(history: History, rows: Indices, levels: Levels) -> Floats:
    """For each row the throughput of its group at the nearest levels, in bit/s."""
    loads = np.empty(len(history))
    wanted = np.log2(row_of(levels))
    for group in groups(history, rows):
        apart = np.abs(np.log2(history.levels[group]) - wanted).sum(axis=1)
        nearest = group[apart == apart.min()]
        loads[group] = np.median(history.throughput_bps[nearest])
    return loads[rows]


def _candidates(lower: Floats, upper: Floats) -> Floats:
    """The powers of two between two settings, and the settings themselves."""
    axes = [
        np.unique([low, high, *(2.0**k for k in range(31) if low <= 2**k <= high)])
        for low, high in zip(lower, upper, strict=True)
    ]
    grid: Floats = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return grid
