"""What is measured: path, loads, files, settings of the history, and methods."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Final

import msgspec

from advisor.models.file_classes import Size

RTT_S, RATE_BPS = 0.0456, 500e6
LOADS: Final = {"light": 0, "medium": 4, "heavy": 10}
"""Parallel TCP streams of other traffic in the same direction."""
SEED = 7
EPOCH = "10s"
EACH = "each"
"""The first word of a method that tunes class after class."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One procedure. `file`: its results, below docs/benchmarks.

    `history_files`: number and size in bytes. `planned_files`: number, and the bounds of their
    random sizes in bytes. `settings`: concurrency and parallelism of the history.
    """

    title: str
    file: str
    history_files: Mapping[Size, tuple[int, int]]
    planned_files: Mapping[Size, tuple[int, int, int]]
    methods: tuple[str, ...]
    settings: tuple[tuple[int, int], ...] = ()


FIRST: Final = Series(
    title="First series: 2 GB",
    file="plans.jsonl",
    history_files={
        Size.TINY: (24, 250_000),
        Size.SMALL: (20, 1_700_000),
        Size.MEDIUM: (10, 10_000_000),
        Size.LARGE: (8, 30_000_000),
    },
    planned_files={
        Size.TINY: (600, 50_000, 400_000),
        Size.SMALL: (150, 700_000, 2_500_000),
        Size.MEDIUM: (60, 4_000_000, 24_000_000),
        Size.LARGE: (2, 300_000_000, 500_000_000),
    },
    methods=("harp --sample --relaxation 0.7", "harp --sample", "harp", "promc", "globus"),
)
"""As it was measured in November 2026, before plans had online tuning; not measured again."""

SECOND: Final = Series(
    title="Second series: 10 GB",
    file="plans-10gb.jsonl",
    history_files={
        Size.TINY: (96, 250_000),
        Size.SMALL: (64, 1_700_000),
        Size.MEDIUM: (32, 10_000_000),
        Size.LARGE: (32, 30_000_000),
    },
    planned_files={
        Size.TINY: (4000, 50_000, 400_000),
        Size.SMALL: (1200, 700_000, 2_500_000),
        Size.MEDIUM: (220, 4_000_000, 24_000_000),
        Size.LARGE: (12, 300_000_000, 500_000_000),
    },
    methods=(
        "harp --no-sample --no-online-tuning",
        "harp --no-sample",
        "harp --sample --no-online-tuning",
        "harp --sample",
        "globus",
        "single-chunk",
        "promc",
        f"{EACH} pcp",
        f"{EACH} ann-ot",
        f"{EACH} bayes",
    ),
    settings=tuple(itertools.product((2, 4, 8, 16, 32), (1, 4, 8))),
)
RUNS = 3
"""Of each method and load at least."""
