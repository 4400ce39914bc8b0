"""PCP: probing by file class, after the description in HARP (Arslan and Kosar 2018).

Sections 3, 4 and 5 of HARP describe the algorithm of Yildirim et al. (2016), which is also where
heur2 comes from: the files are put into classes by size; for each class sample transfers are run
with an initial value, "generally 1", then with 2, 4, 8 and so on, "until the observed throughput
stops increasing".

- Everything starts at 1, or at its lower bound; a buffer at its upper one. Each parameter is
  doubled while that gains more than `gain` % (0: any increase), then goes back by one doubling and
  stays.
- A probe cannot choose files, so one class is probed: that with the most bytes. The class decides
  what is raised, following HARP's section 2. Tiny: pipelining, then concurrency; small: pipelining,
  parallelism, concurrency; medium and large: parallelism, then concurrency. Without a dataset, or a
  rate and RTT to classify it, all three in the order of the name.
- PCP has three classes; here HARP's four are used. A number of streams counts as parallelism, and
  any other parameter is raised last; the description names none.
- A failed probe counts as 0 bit/s; from there to any throughput is a gain of 100 %.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import Climb, Constant, Knowledge, SearchPlugin
from advisor.api.past_transfers import Size, classes_of
from advisor.api.values import Levels, Parameter, Role, Space, in_order, setting_of

CONSTANTS: Final = (
    Constant(
        name="gain", default=0, lower=0, upper=99, meaning="least gain in % for another doubling"
    ),
)

_PARALLEL: Final = (Role.PARALLELISM, Role.STREAMS)
_ORDERS: Final = {
    None: (Role.PIPELINING, *_PARALLEL, Role.CONCURRENCY),
    Size.TINY: (Role.PIPELINING, Role.CONCURRENCY, Role.STREAMS),
    Size.SMALL: (Role.PIPELINING, *_PARALLEL, Role.CONCURRENCY),
    Size.MEDIUM: (*_PARALLEL, Role.CONCURRENCY),
    Size.LARGE: (*_PARALLEL, Role.CONCURRENCY),
}


def _size(knowledge: Knowledge) -> Size | None:
    """The class that has the most bytes."""
    bdp_bytes = knowledge.bdp_bytes
    classes = classes_of(knowledge.dataset, bdp_bytes) if bdp_bytes else []
    most = max(classes, key=lambda one: one.total_bytes, default=None)
    return most.size if most else None


def _make(
    space: Space, rng: np.random.Generator, knowledge: Knowledge, constants: Mapping[str, float]
) -> Climb:
    return Climb(
        space,
        rng,
        start=setting_of(space, Levels(concurrency=1, parallelism=1)),
        order=in_order(space, *_ORDERS[_size(knowledge)], Role.OTHER),
        raised=Parameter.doubled,
        gain_percent=constants["gain"],
    )


plugin = SearchPlugin(
    name="pcp",
    summary="doubling from 1 while throughput gains, by class of files (PCP, after HARP 2018)",
    constants=CONSTANTS,
    make=_make,
)
