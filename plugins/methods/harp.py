"""HARP: similar past transfers, one sample of the present path, one answer (Arslan et al. 2018).

Source: Arslan, Pehlivan, Kosar, "Big Data Transfer Optimization Through Adaptive Parameter Tuning"
(HARP, 2018), sections 3.1 and 3.2; the optimiser is advisor.models.harp. A search of two steps:

- The sample: the setting that the heuristic of Single Chunk gives for the class of files that has
  the most bytes (lines 6 and 7 of algorithm 1), measured once.
- The answer: surfaces fitted to similar past transfers, weighted by how well each predicts the
  sample, their maxima relaxed and averaged; measured once, for comparison.

What the paper leaves open, and what is done here:

- A probe that moved files counts as a transfer. A probe from memory to memory does not.
- A rate is that while data flowed, of past transfers and of the sample: the paper's sample is the
  rate of two intervals in the middle of a transfer, and its transfers are too long for the rest to
  matter.
- Without such history, the sample's own setting is the answer, and the reason says so.
- If the sample fails, the heuristic's setting is the answer.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import (
    Constant,
    Knowledge,
    MethodTraits,
    OnlineTuning,
    SampleThenAnswer,
    SearchPlugin,
    Tuner,
    TunerBounds,
)
from advisor.api.past_transfers import (
    RELAXATION,
    History,
    Optimiser,
    SampleTransfer,
    box_of,
    conditions_of,
    evidence_of,
    keep_of,
    levels_in,
    optimise,
    sample_levels,
)
from advisor.api.values import Evidence, Setting, Space, format_rate, setting_of

CONSTANTS: Final = (
    Constant(
        name="maxCC", default=32, lower=1, upper=1024, meaning="files at a time", integer=True
    ),
    Constant(
        name="enough",
        default=6000,
        lower=1,
        upper=1e6,
        meaning="similar transfers to look for among 21,000; fewer in a smaller history",
        integer=True,
    ),
    Constant(
        name="relaxation",
        default=RELAXATION,
        lower=0.1,
        upper=1,
        meaning="share of the estimate that a lower concurrency or parallelism must keep",
    ),
)


class Harp(SampleThenAnswer):
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        self.evidence: Evidence | None = None
        self._knowledge = knowledge
        self._constants = constants
        start = sample_levels(
            knowledge.dataset, knowledge.path, knowledge.bdp_bytes, int(constants["maxCC"])
        )
        super().__init__(space, rng, setting_of(space, start))

    def _answered(self, sample_bps: float) -> tuple[Setting, str]:
        known = self._knowledge
        wanted = conditions_of(known.dataset, known.path, known.bandwidth_bps)
        levels = levels_in(self._space, self.memory.sample)
        sample = SampleTransfer(levels=levels, throughput_bps=sample_bps)
        history = History.of(known.transfers)
        found = optimise(
            wanted,
            sample,
            history,
            box_of(self._space),
            enough=self._enough(),
            keep=keep_of(self._constants["relaxation"]),
        )
        self.evidence = evidence_of(wanted, sample, history, found)
        setting = setting_of(self._space, found.levels)
        basis = f"{len(found.similar.rows)} similar transfers in {len(found.groups)} groups"
        return setting, (
            f"{format_rate(found.throughput_bps)} expected from {basis}. {found.worth}"
        )

    def _enough(self) -> int | None:
        """None lets the optimiser choose the share of a small history."""
        wanted = int(self._constants["enough"])
        return None if wanted == CONSTANTS[1].default else wanted


class HarpPlugin(SearchPlugin):
    """Searches as `Harp`; a running transfer is tuned online instead (section 4.2)."""

    def tuner(
        self, space: Space, rng: np.random.Generator, knowledge: Knowledge, bounds: TunerBounds
    ) -> Tuner:
        """A tuner that follows the optimiser, with the rate of the present setting as sample."""
        history = History.of(knowledge.transfers)
        conditions = conditions_of(knowledge.dataset, knowledge.path, knowledge.bandwidth_bps)
        optimiser = Optimiser(conditions, history, box_of(space))

        def suggest(setting: Setting, bps: float) -> tuple[Setting, str]:
            sample = SampleTransfer(levels=levels_in(space, setting), throughput_bps=bps)
            found = optimiser.answer(sample, keep=keep_of(bounds.relaxation))
            return setting_of(space, found.levels), found.worth

        levels = sample_levels(
            knowledge.dataset, knowledge.path, knowledge.bdp_bytes, bounds.concurrency
        )
        start = setting_of(space, knowledge.start or levels)
        return OnlineTuning(start, suggest, space.bounded)


plugin = HarpPlugin(
    name="harp",
    summary="similar past transfers, one sample, one answer (HARP, 2018)",
    constants=CONSTANTS,
    make=Harp,
    traits=MethodTraits(
        form_rank=4,
        form_text="learns from past transfers of similar files",
        hint=(
            "harp takes one sample, and derives the setting from past transfers of similar files. "
            "With none stored it uses the sample's setting, from a heuristic. Probes of the "
            "network alone move no files: profile a tool (step What) for it to learn from."
        ),
        shows_evidence=True,
    ),
)
