"""The paths, and the estimated durations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

RATE_BPS: Final = 1e9
KERNELS_OWN: Final = 0
"""The buffer size that stands for the kernel's autotuning."""

KIB, MIB = 1024, 1024 * 1024


def kernels_control() -> str:
    """The machine's congestion control."""
    return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()


@dataclass(frozen=True, slots=True)
class Case:
    """One path and its load.

    `options`: what `advisor lab up` gets. `congestion`: what the two hosts say their kernels use,
    "" for what they do use.
    `load_streams`: external load, on from `load_at_s` after a method began, and throughout the
    sweep and the measurements at the end; 0 for none.
    """

    key: str
    title: str
    rtt_s: float
    options: tuple[str, ...]
    streams: tuple[int, ...] = (1, 2, 4, 8, 16, 25)
    buffers: tuple[int, ...] = (KERNELS_OWN, 256 * KIB, MIB, 4 * MIB)
    congestion: str = "cubic"
    load_streams: int = 0
    load_at_s: float = 0.0

    @property
    def control(self) -> str:
        """The congestion control by name."""
        return self.congestion or kernels_control()

    @property
    def start_s(self) -> float:
        """The excluded start of a probe: slow start takes about 12 round trips."""
        return max(1.0, 12 * self.rtt_s)

    @property
    def long_start_s(self) -> float:
        """What is left out when measured again: with loss, a window that slow start made too large
        takes seconds to come down to what a long transfer has."""
        return max(3.0, 16 * self.rtt_s)

    @property
    def budget_s(self) -> float:
        """The longest time of `advisor advise` on this path with its default budget."""
        return 60.0 * max(1.0, self.rtt_s / 0.1)


CASES: Final = (
    Case("a", "45.6 ms, clean, shallow queue", 0.0456, ("--rtt", "45.6ms", "--queue", "2MB")),
    Case("b", "93.6 ms, loss of 3e-4", 0.0936, ("--rtt", "93.6ms", "--loss", "3e-4")),
    Case(
        "c",
        "366 ms",
        0.366,
        ("--rtt", "366ms"),
        # A stream more is a round trip more before a probe begins.
        streams=(1, 4, 12, 25),
        buffers=(KERNELS_OWN, MIB, 4 * MIB),
    ),
    Case("d", "0.4 ms", 0.0004, ("--rtt", "0.4ms")),
    Case(
        "e",
        "45.6 ms, kernels that give 256 KiB by themselves",
        0.0456,
        ("--rtt", "45.6ms", "--tcp-buffer", "256KiB"),
    ),
    Case(
        "f",
        "45.6 ms, 16 competing streams from the 20th second on",
        0.0456,
        ("--rtt", "45.6ms"),
        congestion="",  # That of the load, which is the kernel's.
        load_streams=16,
        load_at_s=20.0,
    ),
    Case(
        "g",
        "45.6 ms, 16 competing streams from the third second on",
        0.0456,
        ("--rtt", "45.6ms"),
        congestion="",
        load_streams=16,
        load_at_s=3.0,
    ),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is done. Times in seconds of data that count, past the start of each probe."""

    seeds: int
    rounds: int = 2
    """How often all the settings found are measured again, in turn."""
    quick: bool = False

    @property
    def repeats(self) -> int:
        """How often the sweep goes over the grid; after the first time, over its best third."""
        return 1 if self.quick else 2

    @property
    def sweep_s(self) -> float:
        return 1.0 if self.quick else 2.0

    @property
    def spsa_s(self) -> float:
        return 1.0 if self.quick else 2.0

    @property
    def again_s(self) -> float:
        return 2.0 if self.quick else 4.0

    def budget_s(self, case: Case) -> float:
        """The time limit of a method."""
        return case.budget_s / (3 if self.quick else 1)

    def load_at_s(self, case: Case) -> float:
        return case.load_at_s / (3 if self.quick else 1)

    def grid(self, case: Case) -> list[tuple[int, int]]:
        """(streams, buffer) of every cell of the sweep."""
        step = 2 if self.quick else 1
        return [(p, w) for p in case.streams[::step] for w in case.buffers[::step]]


BEST_OF_SWEEP: Final = 3
"""The number of the sweep's best cells that are measured again."""

WORTH_REPEATING: Final = 1 / 3
"""The share of the cells, the best ones, that are swept more than once."""

SPSA_CONSTANTS: Final = {
    "a": 15.0,
    "c": 5.5,
    "A": 0.0,
    "alpha": 0.602,
    "gamma": 0.101,
    "C": 0.85,
    "L": 20.0,
    "N": 40.0,
}
"""ProbData, section IV.C and figure 5(b)."""

PAPERS_PROBE_S: Final = 120.0
"""One profiling of ProbData's numerical example (section II)."""

UDT_DEFAULT: Final = {"mss_bytes": 1500, "buffer_bytes": 8192 * 1472, "block_bytes": 100_000}
"""libudt's own: 8192 packets of 1500 B; the block is that of its sample program."""


_SPSAS_SHARE: Final = 0.2
"""Of the time it may take, SPSA needs about this much before a condition of its own ends it."""

_SETTINGS_A_SEED: Final = 1.5
"""New ones that both methods find, on the average."""


def probe_estimate_s(case: Case, data_s: float, streams: float) -> float:
    """About how long one probe takes: connecting, its data, and the end."""
    return 0.5 + 1.3 * case.rtt_s * streams + data_s


def estimate_s(case: Case, plan: Plan) -> float:
    """The estimated duration of a case."""
    grid = plan.grid(case)
    mean_streams = sum(p for p, _ in grid) / len(grid)
    cells = len(grid) * (1 + WORTH_REPEATING * (plan.repeats - 1))
    sweep_probe_s = probe_estimate_s(case, case.start_s + plan.sweep_s, mean_streams)
    long_probe_s = probe_estimate_s(case, case.long_start_s + plan.again_s, mean_streams)
    found = BEST_OF_SWEEP + 3 + _SETTINGS_A_SEED * plan.seeds
    searching_s = plan.budget_s(case) * (1 + _SPSAS_SHARE) + 5
    return cells * sweep_probe_s + plan.seeds * searching_s + plan.rounds * found * long_probe_s
