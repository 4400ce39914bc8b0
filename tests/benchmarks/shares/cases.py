"""The lab, the requests of each part, and the estimated durations."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from advisor.domain.shares import BASE
from advisor.transfer.shared.epochs import EPOCH_S

HOSTS: Final = ("kraken", "mason", "blacklight", "gordon", "yellowstone")
"""The paper's destinations; the lab has paths of the same names."""

RATES_BPS: Final = {
    "kraken": 50e6,
    "mason": 50e6,
    "blacklight": 80e6,
    "gordon": 100e6,
    "yellowstone": 100e6,
}
"""A fiftieth of each one's capacity in the paper (section IV); the lab's paths have a tenth."""

SOURCE_RATE_BPS: Final = 150e6
"""Less than the sum of all, as in the paper, and half of what the emulator can forward on two cores
in addition to clients and servers."""

SOURCE_QUEUE: Final = "500kB"
MTU_BYTES: Final = 1500
RTTS_S: Final = {
    "kraken": 0.12,
    "mason": 0.122,
    "blacklight": 0.132,
    "gordon": 0.13,
    "yellowstone": 0.118,
}
"""Those of the lab's paths, and 90 ms more, so that there are `LEAST_PACKETS`. Flows of one RTT
would lose packets in step."""

STREAMS: Final = 2
"""Of each file. The paper has eight on paths of gigabits; eight here would leave windows of a few
packets, and rates that depend on which of them lose one."""

LEAST_PACKETS: Final = 20
"""What every flow has in flight at its fair share, with most files to all and most load."""

LOADS: Final = (0, 4, 8, 12)
"""Numbers of parallel streams of the external load, one at a time."""

TRAIN, TEST, REPEAT, RATIO, FACTOR, LONG = "train", "test", "repeat", "ratio", "factor", "long"
PARTS: Final = (TRAIN, TEST, REPEAT, RATIO, FACTOR, LONG)
"""`REPEAT`: the same files at a time throughout, under one load. `LONG`: one ratio for two hours,
with feedback, while the load changes."""

RATIOS: Final = ("2:1:2:3:3", "3:2:3:4:4", "4:5:6:8:9", "5:4:5:8:9")
"""In the order of `HOSTS` (section V)."""

LONG_RATIO: Final = "4:5:6:8:9"
"""Figure 7."""

REPEATED: Final = "@3"
"""As many files at a time to each destination, whatever the rate: a middle plan."""

REPEAT_LOAD: Final = 8
"""Streams of the external load meanwhile."""

FACTORS: Final = (1.5, 2.0)
BASE_CONCURRENCY: Final = BASE

_OVERHEAD_S: Final = 11.0
"""The time to start, plan, end, and remove the files."""

_CHANGING: Final = 1.05
"""The duration of an epoch with the decision after it, as a multiple of its length."""


@dataclass(frozen=True, slots=True)
class Task:
    """One command that is run until it has reported this number of epochs.

    `case`: the request of a plan, see `asked`; otherwise the part. `number`: of the run
    among those of the same case. `lasts_s`: of a training, which has as many steps as that gives
    (`epochs` 0) and runs to its end; `epoch_s` is then the longest step.
    """

    part: str
    case: str
    number: int
    epoch_s: float
    epochs: int
    lasts_s: float = 0.0

    @property
    def is_plan(self) -> bool:
        """Whether it is a plan; the others vary concurrencies for training."""
        return self.part in (REPEAT, RATIO, FACTOR, LONG)

    @property
    def whole_s(self) -> float:
        """Its estimated duration, including start and clean-up."""
        return (self.lasts_s or self.epochs * self.epoch_s) * _CHANGING + _OVERHEAD_S


@dataclass(frozen=True, slots=True)
class Plan:
    """The amount of work. Times in seconds; `most`: files at a time to one destination.

    `train_s`: of the training, whose steps take at most `step_s`; `epoch_s`: of all tests of the
    trained models. A factor's first epoch measures the base. `load_s`, `plan_load_s`: until the
    external load is another one, during training and test, and under plans.
    """

    runs: int = 3
    train_s: float = 3600.0
    step_s: float = 90.0
    epoch_s: float = EPOCH_S
    test_steps: int = 20
    repeat_epochs: int = 6
    ratio_epochs: int = 4
    factor_epochs: int = 2
    long_epochs: int = 80
    load_s: float = 150.0
    plan_load_s: float = 900.0
    most: int = 6
    parts: Sequence[str] = PARTS

    def load_s_of(self, part: str) -> float:
        """How long a load stays.

        The paper's training data is of different days and times of day (section IV.C), and its
        plans met loads that hardly vary within 15 minutes (section II and figure 3).
        """
        return self.load_s if part in (TRAIN, TEST) else self.plan_load_s

    @property
    def tasks(self) -> list[Task]:
        """All tasks in order."""
        return [task for part in PARTS if part in self.parts for task in self._tasks_of(part)]

    def _tasks_of(self, part: str) -> Iterator[Task]:
        match part:
            case "train":
                yield Task(part, part, 0, self.step_s, 0, self.train_s)
            case "test":
                yield Task(part, part, 0, self.epoch_s, self.test_steps)
            case "repeat":
                yield Task(part, REPEATED, 0, self.epoch_s, self.repeat_epochs)
            case "long":
                yield Task(part, LONG_RATIO, 0, self.epoch_s, self.long_epochs)
            case _:
                cases = RATIOS if part == RATIO else factor_cases()
                epochs = self.ratio_epochs if part == RATIO else self.factor_epochs
                # Runs of one case are far apart in time, so that each meets another load.
                for number, case in itertools.product(range(self.runs), cases):
                    yield Task(part, case, number, self.epoch_s, epochs)


def fewest_packets(most: int) -> float:
    """What a flow has in flight at its fair share of the source's interface or of its path.

    The least of all, with `most` files to every destination and the most load, in packets and
    without those in queues. Flows of one queue have windows alike, and rates by their RTT.
    """
    flows = dict.fromkeys(HOSTS, most * STREAMS)
    flows[HOSTS[0]] += max(LOADS)
    windows_per_s = {host: n / RTTS_S[host] for host, n in flows.items()}
    links = [(SOURCE_RATE_BPS, sum(windows_per_s.values()))]
    links += [(RATES_BPS[host], windows_per_s[host]) for host in HOSTS]
    return min(rate_bps / 8 / MTU_BYTES / per_s for rate_bps, per_s in links)


def factor_cases() -> list[str]:
    """As `kraken x1.5`: one destination at a time, by one factor."""
    return [f"{host} x{factor:g}" for factor in FACTORS for host in HOSTS]


def asked(case: str) -> dict[str, str]:
    """The request for each destination of a plan, as `advisor share plan` takes it.

    "" for none: the destination is held at the base case.
    """
    if case == REPEATED:
        return dict.fromkeys(HOSTS, case)
    if ":" in case:
        return dict(zip(HOSTS, case.split(":"), strict=True))
    named, factor = case.split()
    return {host: factor if host == named else "" for host in HOSTS}


def trained_order(part: str) -> tuple[str, ...]:
    """The order of destinations: the test raises them in another order than the training."""
    return HOSTS if part == TRAIN else HOSTS[::-1]


def load_sequence(seed: int) -> Iterator[int]:
    """An endless random sequence of `LOADS`, never the same twice in a row."""
    rng = random.Random(seed)
    last = -1
    while True:
        last = rng.choice([one for one in LOADS if one != last])
        yield last
