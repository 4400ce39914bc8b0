"""Heur2: the exponential heuristic of Yildirim et al. (2016), as Balaprakash et al. (2016) use it.

Yildirim, Arslan, Kim and Kosar, "Application-level optimization of big data transfers through
pipelining, parallelism and concurrency"; sections I and IV.C of Balaprakash et al. say that it
"exponentially increases parallelism and concurrency values until the maximum achievable throughput
is reached", and "has no decrement mechanism".

- It starts at Globus's default of concurrency 2 and parallelism 8, as the paper's runs do.
- Parallelism, then concurrency, then any other parameter is doubled, on either scale and at most
  to its upper bound, while that gains more than ε % (5, the tolerance of the paper's tuners: it
  states none for this heuristic). It undoes the doubling that did not gain, and the next parameter
  follows; after the last it stops. The order is this program's.
- A failed probe counts as 0 bit/s; from there to any throughput is a gain of 100 %.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import EPSILON, Climb, Knowledge, SearchPlugin
from advisor.api.values import GLOBUS_LARGE_FILES, Parameter, Role, Space, in_order, setting_of

CONSTANTS: Final = (EPSILON,)
_ORDER: Final = (
    Role.PARALLELISM,
    Role.STREAMS,
    Role.CONCURRENCY,
    Role.PIPELINING,
    Role.BUFFER,
    Role.OTHER,
)


def _make(
    space: Space, rng: np.random.Generator, knowledge: Knowledge, constants: Mapping[str, float]
) -> Climb:
    return Climb(
        space,
        rng,
        start=setting_of(space, knowledge.start or GLOBUS_LARGE_FILES),
        order=in_order(space, *_ORDER),
        raised=Parameter.doubled,
        gain_percent=constants["epsilon"],
    )


plugin = SearchPlugin(
    name="heur2",
    summary="doubles parallelism, then concurrency while throughput gains (Yildirim et al., 2016)",
    constants=CONSTANTS,
    make=_make,
)
