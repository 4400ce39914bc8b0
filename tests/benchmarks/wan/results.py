"""Results, one per line in a file, so that an interrupted run can be resumed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from tests.benchmarks.kept_lines import KeptLines

Setting = dict[str, Any]


class Machine(msgspec.Struct, frozen=True, kw_only=True, tag="machine"):
    """Where and how; a line whenever the bench starts or resumes."""

    when: str
    command: str
    quick: bool
    kernel: str
    processor: str
    cores: int
    memory_bytes: int
    load_1min: float
    hosts_congestion: str
    versions: dict[str, str]


class Swept(msgspec.Struct, frozen=True, kw_only=True, tag="swept"):
    """One cell of the sweep, once. `bps`: 0 where the probe failed."""

    case: str
    repeat: int
    streams: int
    buffer_bytes: int
    bps: float
    seconds: float


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One method's run with one seed, and the setting it ended with; None when it found none.

    `claimed_bps`: what it says the setting achieves. `sent_bytes`: what crossed the path meanwhile,
    external load included. `ended`: why it ended.
    """

    case: str
    method: str
    seed: int
    transport: str
    setting: Setting | None
    claimed_bps: float
    probes: int
    seconds: float
    sent_bytes: int
    ended: str


class Again(msgspec.Struct, frozen=True, kw_only=True, tag="again"):
    """A setting measured at the end, in turn with all others of its case.

    `key`: `key_of` the setting, or `iperf3` for the program as it comes.
    """

    case: str
    round: int
    key: str
    bps: float


class Timed(msgspec.Struct, frozen=True, kw_only=True, tag="timed"):
    """How long a whole part of a case took, in seconds."""

    case: str
    part: str
    seconds: float


class Late(msgspec.Struct, frozen=True, kw_only=True, tag="late"):
    """How late a lab's emulator handed packets over, in seconds: 99 of 100, and the worst."""

    case: str
    part: str
    p99_s: float
    most_s: float


Line = Machine | Swept | Run | Again | Timed | Late

IPERF3 = "iperf3"


def key_of(transport: str, setting: Setting) -> str:
    """The setting as a word, whatever the order of its names."""
    return f"{transport}:{','.join(f'{n}={setting[n]}' for n in sorted(setting))}"


class Results(KeptLines[Line]):
    """The results of this bench."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Line)


def cell_means(swept: Iterable[Swept]) -> dict[tuple[int, int], float]:
    """Mean rate of each cell (streams, buffer)."""
    rates: dict[tuple[int, int], list[float]] = {}
    for one in swept:
        rates.setdefault((one.streams, one.buffer_bytes), []).append(one.bps)
    return {cell: sum(values) / len(values) for cell, values in rates.items()}


def complete_rounds(again: Iterable[Again], wanted: set[str]) -> dict[int, dict[str, float]]:
    """The rounds in which all that is wanted was measured: rate by key."""
    rounds: dict[int, dict[str, float]] = {}
    for one in again:
        rounds.setdefault(one.round, {})[one.key] = one.bps
    return {number: rates for number, rates in rounds.items() if wanted <= rates.keys()}
