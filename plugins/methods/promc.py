"""ProMC, Pro-Active Multi-Chunk: all classes of files at once, after HARP (2018).

Sections 4 and 5 of HARP (Arslan and Kosar): classes and levels are those of Single Chunk, but the
classes are moved at the same time, and "ProMC uses all available channels", 10 in the paper. The
rules are in `transfer_heuristics`.

- A probe has one setting, so one is asked: concurrency is all the channels, no more than there are
  files, shared out among the classes by weight; parallelism and pipelining are the means over the
  channels, rounded. It is measured once.
- Without a dataset all files count as large; without a rate and RTT parallelism is 1.
- The buffer is the maximum of the kernel's autotuning at both ends, or the BDP if that is unknown.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import Answer, Answers, Constant, Knowledge, SearchPlugin
from advisor.api.past_transfers import buffer_of, class_levels, share_channels
from advisor.api.values import Levels, Space, setting_of

CONSTANTS: Final = (
    Constant(name="maxCC", default=10, lower=1, upper=1024, meaning="all channels", integer=True),
)


def _together(knowledge: Knowledge, most_channels: int) -> Levels:
    buffer_bytes = buffer_of(knowledge.path) if knowledge.path else None
    levels = class_levels(knowledge.dataset, knowledge.bdp_bytes, buffer_bytes, most_channels)
    classes = [files for files, _ in levels if files]
    if not classes:
        return Levels(concurrency=most_channels, parallelism=levels[0][1].parallelism)
    channels = min(most_channels, sum(files.files for files in classes))
    shares = share_channels(classes, channels)
    streams = sum(n * one.parallelism for n, (_, one) in zip(shares, levels, strict=True))
    ahead = sum(n * one.pipelining for n, (_, one) in zip(shares, levels, strict=True))
    return Levels(
        concurrency=channels,
        parallelism=max(1, round(streams / channels)),
        pipelining=max(1, round(ahead / channels)),
    )


def _make(
    space: Space, rng: np.random.Generator, knowledge: Knowledge, constants: Mapping[str, float]
) -> Answers:
    levels = _together(knowledge, int(constants["maxCC"]))
    answer = Answer(
        label="all files",
        setting=setting_of(space, levels),
        reason=f"{levels.words}, computed for all classes of files together",
    )
    return Answers(space, rng, [answer])


plugin = SearchPlugin(
    name="promc",
    summary="one setting computed for all classes of files together (ProMC, after HARP, 2018)",
    constants=CONSTANTS,
    make=_make,
)
