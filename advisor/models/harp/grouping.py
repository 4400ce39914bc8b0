"""Past transfers grouped by conditions (HARP 2018, section 3.2.2).

The paper groups entries with the same network and dataset that were "collected at approximate
times", so that they met about the same traffic; its groups are sweeps over the 216 settings, which
took hours each. Here a group spans at most a day from its first entry, and ends earlier at a pause
twenty times as long as usual between entries of its kind, since the load may then have changed.
Figures that are measured repeatedly are never exactly equal: those of the path count as the same
within a quarter of an octave, those of the dataset within an octave.
"""

from typing import Final

import numpy as np

from advisor.models.harp.entries import Floats, History, Indices

SPAN_S: Final = 24 * 3600.0
_PAUSE: Final = 20.0
_LEAST_PAUSE_S: Final = 60.0
_PATH_ALIKE: Final = 2**0.25
_DATASET_ALIKE: Final = 2.0


def groups(history: History, rows: Indices, span_s: float = SPAN_S) -> list[Indices]:
    """The rows in groups, each in order of time, or in the order of rows where times are unknown.

    `span_s`: maximum time between the first and last entry of a group. Entries of the same
    conditions without a time form one group.
    """
    if not len(rows):
        return []
    rows = np.sort(rows)
    timeless = np.isnan(history.when_s[rows])
    when_s = np.where(timeless, 0.0, history.when_s[rows])
    _, identity = np.unique(_identities(history, rows, timeless), axis=0, return_inverse=True)
    identity = identity.reshape(-1)
    order = np.lexsort((when_s, identity))
    begins: list[int] = []
    kinds, times_s = identity[order], when_s[order]
    for place in np.flatnonzero(np.diff(kinds, prepend=-1)):
        same = times_s[place : np.searchsorted(kinds, kinds[place], side="right")]
        begins += [int(place) + at for at in _begins(same, span_s)]
    return np.split(rows[order], begins[1:])


def _begins(times_s: Floats, span_s: float) -> list[int]:
    """The start indices of groups among entries of one kind, in order of time."""
    gaps_s = np.diff(times_s)
    lasting = gaps_s[gaps_s > 0]
    usual_s = float(np.median(lasting)) if len(lasting) else 0.0
    pause_s = max(_LEAST_PAUSE_S, _PAUSE * usual_s)
    begins, first_s = [0], times_s[0]
    for place, gap_s in enumerate(gaps_s, 1):
        if gap_s > pause_s or times_s[place] > first_s + span_s:
            begins.append(place)
            first_s = times_s[place]
    return begins


def _identities(history: History, rows: Indices, timeless: np.ndarray) -> Indices:
    return np.column_stack(
        (
            history.network[rows],
            timeless,
            _classed(history.bandwidth_bps[rows], _PATH_ALIKE),
            _classed(history.rtt_s[rows], _PATH_ALIKE),
            _classed(history.buffer_bytes[rows], _PATH_ALIKE),
            np.nan_to_num(history.features[rows, 3], nan=-1.0).astype(np.intp),
            _classed(history.file_bytes[rows], _DATASET_ALIKE),
            _classed(history.file_count[rows], _DATASET_ALIKE),
        )
    )


def _classed(values: Floats, alike: float) -> Indices:
    """The class of each value; a class starts at the least value that is in no earlier class.

    -1 for an unknown value.
    """
    starts: list[float] = []
    for value in np.unique(values[~np.isnan(values)]):
        if not starts or value > starts[-1] * alike:
            starts.append(float(value))
    classes: Indices = np.searchsorted(starts, values, side="right") - 1
    classes[np.isnan(values)] = -1
    return classes
