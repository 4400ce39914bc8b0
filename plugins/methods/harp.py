"""HARP: past transfers that are alike, one sample of now, one answer (Arslan et al. 2018).

Source: Arslan, Pehlivan, Kosar, "Big Data Transfer Optimization Through Adaptive Parameter Tuning"
(HARP, 2018), sections 3.1 and 3.2; the optimiser is advisor.models.harp. A search of two steps:

- The sample: the setting that the heuristic of Single Chunk works out for the class of files that
  has the most bytes (lines 6 and 7 of algorithm 1), measured once.
- The answer: surfaces fitted to similar transfers of the past, weighed by how well each foretells
  the sample, their maxima relaxed and averaged; measured once, to be compared.

What the paper leaves open, and what is done here:

- A probe that moved files counts as a transfer. Searches from memory to memory are none.
- Where there is no such history, the sample's own setting is the answer, and the reason says so.
- Of a space with streams alone these are taken for the parallelism of one file at a time.
- The sample's failure leaves the heuristic's setting as the answer.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api import (
    RELAXATION,
    Box,
    Conditions,
    Constant,
    Evidence,
    History,
    Knowledge,
    Levels,
    Memory,
    Role,
    Sample,
    Search,
    SearchPlugin,
    Setting,
    Space,
    StopGauge,
    buffer_of,
    class_levels,
    evidence_of,
    format_rate,
    optimise,
    role_of,
    setting_of,
)

_STEPS: Final = 2
_SUPPOSED_FILE_BYTES: Final = 2.0**30

CONSTANTS: Final = (
    Constant(
        name="maxCC", default=32, lower=1, upper=1024, meaning="files at a time", integer=True
    ),
    Constant(
        name="enough",
        default=6000,
        lower=1,
        upper=1e6,
        meaning="similar transfers to look for, of 21,000; of fewer as many in proportion",
        integer=True,
    ),
    Constant(
        name="keep",
        default=RELAXATION[0],
        lower=0.1,
        upper=1,
        meaning="share of the estimate that a lower concurrency or parallelism must keep",
    ),
)


class _Memory(Memory, kw_only=True):
    """The setting of the sample; the answer, once it is known."""

    sample: Setting
    answer: Setting | None = None


class Harp(Search[_Memory]):
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
        sample = setting_of(space, _heuristic(knowledge, int(constants["maxCC"])))
        super().__init__(space, rng, _Memory(sample=sample, label="sample"))

    @property
    def gauges(self) -> list[StopGauge]:
        """Which of the two steps is done."""
        return [
            StopGauge(
                name="steps",
                value=self.memory.iteration,
                limit=_STEPS,
                meaning="the sample, then the answer",
            )
        ]

    def _setting(self) -> Setting:
        return dict(self.memory.answer or self.memory.sample)

    def _take(self, bps: float) -> None:
        memory = self.memory
        memory.iteration += 1
        if memory.answer is not None:
            memory.stop_reason = "HARP has one answer, and it is measured"
            return
        if not bps:
            memory.stop_reason = "the sample failed: the heuristic's setting is all there is"
            return
        memory.answer, memory.move_reason = self._answered(bps)
        memory.label = "answer"
        if memory.answer == memory.sample:
            memory.stop_reason = memory.move_reason

    def _answered(self, sample_bps: float) -> tuple[Setting, str]:
        """The setting to use, and why."""
        keep = self._constants["keep"]
        wanted = _conditions(self._knowledge)
        levels = _levels(self._space, self.memory.sample)
        sample = Sample(levels=levels, throughput_bps=sample_bps)
        history = History.of(self._knowledge.transfers)
        found = optimise(
            wanted,
            sample,
            history,
            _box(self._space),
            self._rng,
            enough=self._enough(),
            keep=(keep, keep, max(keep, RELAXATION[2])),
        )
        self.evidence = evidence_of(wanted, sample, history, found)
        setting = setting_of(self._space, found.levels)
        stands_on = f"{len(found.similar.rows)} similar transfers in {len(found.groups)} groups"
        return setting, (
            f"{format_rate(found.throughput_bps)} expected, by {stands_on}. {found.worth}"
        )

    def _enough(self) -> int | None:
        """None leaves the share of a small history to the optimiser."""
        wanted = int(self._constants["enough"])
        return None if wanted == CONSTANTS[1].default else wanted


def _heuristic(knowledge: Knowledge, most_concurrency: int) -> Levels:
    """Single Chunk's setting for the class with the most bytes."""
    buffer_bytes = buffer_of(knowledge.path) if knowledge.path else None
    found = class_levels(knowledge.dataset, knowledge.bdp_bytes, buffer_bytes, most_concurrency)
    _, levels = max(found, key=lambda one: one[0].total_bytes if one[0] else 0)
    return levels


def _conditions(knowledge: Knowledge) -> Conditions:
    path, dataset = knowledge.path, knowledge.dataset
    return Conditions(
        file_bytes=knowledge.mean_file_bytes or _SUPPOSED_FILE_BYTES,
        file_count=dataset.files if dataset else None,
        bandwidth_bps=knowledge.bandwidth_bps,
        rtt_s=path.rtt_s if path else None,
        buffer_bytes=buffer_of(path) if path else None,
    )


def _levels(space: Space, setting: Mapping[str, object]) -> Levels:
    """The setting as the three of the paper; what the space has not is 1."""
    values = {role_of(p): int(float(str(setting.get(p.name, 1)))) for p in space.parameters}
    return Levels(
        concurrency=max(1, values.get(Role.CONCURRENCY, 1)),
        parallelism=max(1, values.get(Role.PARALLELISM, values.get(Role.STREAMS, 1))),
        pipelining=max(1, values.get(Role.PIPELINING, 1)),
    )


def _box(space: Space) -> Box:
    """The levels the space allows."""
    return Box(
        lower=_levels(space, {p.name: p.lower for p in space.parameters}),
        upper=_levels(space, {p.name: p.upper for p in space.parameters}),
    )


plugin = SearchPlugin(
    name="harp",
    summary="past transfers that are alike, one sample, one answer (HARP, 2018)",
    constants=CONSTANTS,
    make=Harp,
)
