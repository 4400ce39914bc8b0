"""The weight of each group, by how well it predicted the sample (HARP 2018, eq. 3, section 3.2.3).

ε is the sample's throughput minus the prediction of a group's surface for its setting. DBSCAN
groups the groups into classes of similar |ε|, and the classes, from the largest |ε| to the
smallest, have the weights 2⁰, 2¹, …, 2^(k−1). The paper gives neither of DBSCAN's parameters and
finds 4 to 6 classes. Here two errors are neighbours within 1/60 of the highest throughput in the
groups, and a single one may form a class, as in the authors' own program.
"""

from typing import Final

import numpy as np

from advisor.models.harp.entries import Floats

NEIGHBOURS: Final = 1 / 60


def weights(errors_bps: Floats, most_bps: float) -> Floats:
    """The weight of each group. `most_bps`: the highest throughput of any, above zero."""
    if not len(errors_bps):
        return np.zeros(0)
    sizes = np.abs(errors_bps)
    largest_first = np.argsort(-sizes, kind="stable")
    # On a line, with classes of one allowed, DBSCAN cuts where the gap is too wide.
    gaps = -np.diff(sizes[largest_first]) > most_bps * NEIGHBOURS
    found = np.empty(len(sizes))
    found[largest_first] = 2.0 ** np.concatenate(([0], np.cumsum(gaps)))
    return found
