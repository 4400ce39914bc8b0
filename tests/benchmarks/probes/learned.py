"""A learned model for comparison: how much the traces' first seconds tell at all.

Gradient boosting on the logarithms of the rates so far, relative to the mean of the later half of
them, and the RTT; the route under test is held out. It is no part of the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from tests.benchmarks.probes.traces import Trace

_LEAST_BPS = 1e4
_FEW = 60
"""Routes with fewer traces are held out together: one fit each would take minutes."""


def learned_errors(known: Sequence[Trace], intervals: int) -> list[float]:
    """The relative error of each trace's prediction after this many intervals."""
    rates = np.array([[i.throughput_bps for i in t.intervals[:intervals]] for t in known])
    logs = np.log(np.maximum(rates, _LEAST_BPS))
    recent = np.log(np.maximum(rates[:, -max(1, intervals // 2) :].mean(axis=1), _LEAST_BPS))
    rtts = np.log([t.rtt_s for t in known])
    features = np.column_stack([logs - recent[:, None], rtts, recent + rtts])
    target = np.log([t.true_bps for t in known]) - recent
    counts = Counter(t.route for t in known)
    groups = np.array([t.route if counts[t.route] >= _FEW else "few" for t in known])
    weights = np.array([counts[t.route] ** -0.5 for t in known])
    predicted = np.zeros(len(known))
    for group in set(groups):
        held_out = groups == group
        model = HistGradientBoostingRegressor(
            loss="absolute_error",
            max_iter=40,
            max_leaf_nodes=8,
            learning_rate=0.15,
            min_samples_leaf=15,
            random_state=0,
        )
        model.fit(features[~held_out], target[~held_out], sample_weight=weights[~held_out])
        predicted[held_out] = model.predict(features[held_out])
    errors: list[float] = (np.exp(predicted - target) - 1).tolist()
    return errors
