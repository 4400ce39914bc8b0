"""Heur1: the additive heuristic of Balman and Kosar (2009), as Balaprakash et al. (2016) use it.

Sections I, III.B and IV.C of the latter: the throughputs of two consecutive probes are compared,
and the number of streams is incremented by one as long as there is a significant improvement; it
is "modified in a similar way to cd-tuner so that it can be used to tune more than one parameter".

- It starts at Globus's default of concurrency 2 and parallelism 8, as the paper's runs do.
- A parameter goes up a step while that gains more than ε % (5 in the paper). Then it goes back to
  the previous value, and the next parameter of the space follows; after the last it stops.
- A step is a quantum of a count, a 24th of the range of a size, and a doubling on a log2 scale;
  the heuristic itself knows counts only. Nothing ever goes below where it started.
- A failed probe counts as 0 bit/s; from there to any throughput is a gain of 100 %.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import EPSILON, Climb, Knowledge, SearchPlugin, step_values
from advisor.api.values import GLOBUS_LARGE_FILES, Parameter, Space, setting_of

CONSTANTS: Final = (EPSILON,)


def _a_step_up(parameter: Parameter, value: int) -> int:
    at = parameter.fraction_of(value)
    return next((v for v in step_values(parameter) if parameter.fraction_of(v) > at), value)


def _make(
    space: Space, rng: np.random.Generator, knowledge: Knowledge, constants: Mapping[str, float]
) -> Climb:
    return Climb(
        space,
        rng,
        start=setting_of(space, knowledge.start or GLOBUS_LARGE_FILES),
        order=space.parameters,
        raised=_a_step_up,
        gain_percent=constants["epsilon"],
    )


plugin = SearchPlugin(
    name="heur1",
    summary="steps one parameter up while throughput gains (Balman and Kosar, 2009)",
    constants=CONSTANTS,
    make=_make,
)
