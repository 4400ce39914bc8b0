"""ANN+OT: a neural model of past transfers, one sample of the present path, one answer.

Source: Nine, Guner, Kosar, "Hysteresis-based optimization of data transfer throughput" (2015), as
Arslan, Pehlivan and Kosar compare HARP with it (2018, section 4); the model is
advisor.models.harp.ann. A search of two steps, like `harp`, with which it is compared:

- The sample: the setting that the heuristic of Single Chunk gives, measured once.
- The answer: the setting with the highest throughput that the model predicts from the sample's
  result; measured once, for comparison. Nothing is relaxed.

With fewer than 20 past transfers the sample's own setting is the answer, and the reason says so.
The network's seed is fixed: the same history yields the same model.
"""

from collections.abc import Mapping

import numpy as np

from advisor.api.method import (
    Constant,
    Knowledge,
    MethodTraits,
    SampleThenAnswer,
    SearchPlugin,
)
from advisor.api.past_transfers import (
    History,
    SampleTransfer,
    box_of,
    conditions_of,
    levels_in,
    neural_answer,
    neural_available,
    sample_levels,
)
from advisor.api.values import Setting, Space, format_rate, setting_of


class AnnOt(SampleThenAnswer):
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        self._knowledge = knowledge
        start = sample_levels(
            knowledge.dataset, knowledge.path, knowledge.bdp_bytes, int(constants["maxCC"])
        )
        super().__init__(space, rng, setting_of(space, start))

    def _answered(self, sample_bps: float) -> tuple[Setting, str]:
        known = self._knowledge
        wanted = conditions_of(known.dataset, known.path, known.bandwidth_bps)
        levels = levels_in(self._space, self.memory.sample)
        sample = SampleTransfer(levels=levels, throughput_bps=sample_bps)
        try:
            found = neural_answer(wanted, sample, History.of(known.transfers), box_of(self._space))
        except ValueError as error:
            return self.memory.sample, f"only the heuristic's setting is available: {error}"
        return setting_of(self._space, found.levels), (
            f"{format_rate(found.throughput_bps)} expected from a neural model of "
            f"{found.entries} similar transfers"
        )


plugin = SearchPlugin(
    name="ann-ot",
    summary="a neural model of past transfers, one sample, one answer (ANN+OT, 2015)",
    constants=(
        Constant(
            name="maxCC", default=32, lower=1, upper=1024, meaning="files at a time", integer=True
        ),
    ),
    make=AnnOt,
    traits=MethodTraits(asks_transfers=True),
    available=neural_available,
)
