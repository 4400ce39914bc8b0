"""Single Chunk: a setting computed for each class of files, after HARP (2018).

Sections 4 and 5 of HARP (Arslan and Kosar): the dataset is separated by file size, and the classes
are moved one by one "with the protocol parameter values found by heuristic calculations using
dataset and network metrics"; the user bounds the concurrency, at 10 in the paper. The rules are in
`transfer_heuristics`.

- One setting is asked for each class of files, from tiny to large, and measured once. Classes with
  the same setting share it. The best of them is the answer, though each was meant for its class.
- Without a dataset there is one class, of large files: concurrency 2, pipelining 1, parallelism
  ⌈BDP / buffer⌉. Without a rate and RTT the parallelism is 1.
- The buffer is the maximum of the kernel's autotuning at both ends, or the BDP if that is unknown.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import Answer, Answers, Constant, Knowledge, SearchPlugin
from advisor.api.past_transfers import Size, buffer_of, class_levels
from advisor.api.values import Space, setting_of

CONSTANTS: Final = (
    Constant(
        name="maxCC", default=10, lower=1, upper=1024, meaning="maximum concurrency", integer=True
    ),
)


def _make(
    space: Space, rng: np.random.Generator, knowledge: Knowledge, constants: Mapping[str, float]
) -> Answers:
    buffer_bytes = buffer_of(knowledge.path) if knowledge.path else None
    levels = class_levels(
        knowledge.dataset, knowledge.bdp_bytes, buffer_bytes, int(constants["maxCC"])
    )
    answers: list[Answer] = []
    for files, of_class in levels:
        size = files.size if files else Size.LARGE
        setting = setting_of(space, of_class)
        if all(setting != answer.setting for answer in answers):
            reason = f"{of_class.words}, computed for {size} files"
            answers.append(Answer(label=f"{size} files", setting=setting, reason=reason))
    return Answers(space, rng, answers)


plugin = SearchPlugin(
    name="single-chunk",
    summary="a setting computed for each class of files, one class at a time (after HARP, 2018)",
    constants=CONSTANTS,
    make=_make,
)
