"""The lab, what is asked of it in which part, and how long everything takes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from advisor.domain.shares import BASE
from advisor.models.shares.variation import whole_round

HOSTS: Final = ("kraken", "mason", "blacklight", "gordon", "yellowstone")
"""The paper's destinations, which the lab has paths of the same names to."""

RATES_BPS: Final = {
    "kraken": 50e6,
    "mason": 50e6,
    "blacklight": 80e6,
    "gordon": 100e6,
    "yellowstone": 100e6,
}
"""A fiftieth of what each can get by the paper (section IV); the lab's paths have a tenth."""

SOURCE_RATE_BPS: Final = 150e6
"""Less than all of them together, as in the paper, and half of what the emulator carries on two
cores beside clients and servers."""

SOURCE_QUEUE: Final = "1MB"
MTU_BYTES: Final = 1500
"""The streams, some hundred, have windows of a few packets; of 9000 bytes it would be one."""

LOADS: Final = (0, 4, 8, 16)
"""Parallel streams of others, one of these at a time."""

TRAIN, TEST, RATIO, FACTOR = "train", "test", "ratio", "factor"
PARTS: Final = (TRAIN, TEST, RATIO, FACTOR)

RATIOS: Final = ("2:1:2:3:3", "3:2:3:4:4", "4:5:6:8:9", "5:4:5:8:9")
"""In the order of `HOSTS` (section V)."""

FACTORS: Final = (1.5, 2.0)
BASE_CONCURRENCY: Final = BASE

_BESIDE_S: Final = 11.0
"""To begin, to plan, to end, and to remove what arrived."""

_CHANGING: Final = 1.05
"""So many times its length an epoch takes, with what is decided after it."""


@dataclass(frozen=True, slots=True)
class Task:
    """One command that is run until it has told so many epochs.

    `case`: of a ratio or factor what `asked` says; in the other parts the part. `number`: of runs
    of the same.
    """

    part: str
    case: str
    number: int
    epoch_s: float
    epochs: int

    @property
    def is_plan(self) -> bool:
        """Whether it shares; the others vary concurrencies to learn from."""
        return self.part in (RATIO, FACTOR)

    @property
    def whole_s(self) -> float:
        """About how long it takes, with what comes before and after."""
        return self.epochs * self.epoch_s * _CHANGING + _BESIDE_S


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is done. Times in seconds; `most`: files at a time to one destination.

    `step_s`: of the training; `epoch_s`: of all that is tested with what was learnt.
    """

    runs: int = 3
    step_s: float = 16.0
    epoch_s: float = 30.0
    train_steps: int = 2 * whole_round(len(HOSTS))
    test_steps: int = 20
    ratio_epochs: int = 4
    factor_epochs: int = 1
    load_s: float = 150.0
    most: int = 8
    parts: Sequence[str] = PARTS

    @property
    def tasks(self) -> list[Task]:
        """All of it, in the order in which it is done."""
        return [task for part in PARTS if part in self.parts for task in self._tasks_of(part)]

    def _tasks_of(self, part: str) -> Iterator[Task]:
        if part in (TRAIN, TEST):
            is_training = part == TRAIN
            yield Task(
                part,
                part,
                0,
                self.step_s if is_training else self.epoch_s,
                self.train_steps if is_training else self.test_steps,
            )
            return
        cases = RATIOS if part == RATIO else factor_cases()
        epochs = self.ratio_epochs if part == RATIO else self.factor_epochs
        # Those of one case far apart in time: each finds another load.
        for number, case in itertools.product(range(self.runs), cases):
            yield Task(part, case, number, self.epoch_s, epochs)


def factor_cases() -> list[str]:
    """As `kraken x1.5`: one destination at a time, by one factor."""
    return [f"{host} x{factor:g}" for factor in FACTORS for host in HOSTS]


def asked(case: str) -> dict[str, str]:
    """By destination what a ratio or factor asks for it, as `advisor share plan` takes it.

    "" where nothing is: it is held at the base case.
    """
    if ":" in case:
        return dict(zip(HOSTS, case.split(":"), strict=True))
    named, factor = case.split()
    return {host: factor if host == named else "" for host in HOSTS}


def trained_order(part: str) -> tuple[str, ...]:
    """The order of destinations: the test raises them in another order than the training."""
    return HOSTS if part == TRAIN else HOSTS[::-1]


def load_sequence(seed: int) -> Iterator[int]:
    """For ever one of `LOADS` after the other, never the same twice in a row."""
    rng = random.Random(seed)
    last = -1
    while True:
        last = rng.choice([one for one in LOADS if one != last])
        yield last
