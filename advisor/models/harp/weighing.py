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
    from sklearn.cluster import DBSCAN  # Imported late: it takes a second.

    if not len(errors_bps):
        return np.zeros(0)
    sizes = np.abs(errors_bps)
    classes = DBSCAN(eps=most_bps * NEIGHBOURS, min_samples=1).fit_predict(sizes[:, None])
    means = np.array([sizes[classes == one].mean() for one in range(classes.max() + 1)])
    ranks = np.empty(len(means))
    ranks[np.argsort(-means, kind="stable")] = np.arange(len(means))
    found: Floats = 2.0 ** ranks[classes]
    return found
