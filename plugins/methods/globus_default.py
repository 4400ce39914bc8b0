"""What Globus transfer uses for large files: concurrency 2 and parallelism 8, no search at all.

Source: Balaprakash et al. (2016), section IV, where it is the baseline of all figures. One setting
is asked, the nearest that the space has: where there is only a number of streams, 2 × 8 of them;
pipelining 1; a buffer at its upper bound, as the kernel's autotuning is not held back; anything
else at its lower bound. The paper names no value for these.
"""

from collections.abc import Mapping

import numpy as np

from advisor.api.method import Answer, Answers, Knowledge, SearchPlugin
from advisor.api.values import GLOBUS_LARGE_FILES, Space, setting_of


def _make(
    space: Space, rng: np.random.Generator, _knowledge: Knowledge, _constants: Mapping[str, float]
) -> Answers:
    answer = Answer(
        label="default",
        setting=setting_of(space, GLOBUS_LARGE_FILES),
        reason=f"{GLOBUS_LARGE_FILES.words}, what Globus uses for large files",
    )
    return Answers(space, rng, [answer])


plugin = SearchPlugin(
    name="globus-default",
    summary="Globus's fixed setting for large files, concurrency 2 × parallelism 8",
    make=_make,
)
