"""What is measured, a line each in a file, so that a run can be interrupted and goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

Setting = dict[str, Any]
_Kind = TypeVar("_Kind")


class Machine(msgspec.Struct, frozen=True, kw_only=True, tag="machine"):
    """Where and how; a line whenever the bench starts or goes on."""

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

    `claimed_bps`: what it says the setting gives. `sent_bytes`: what crossed the path meanwhile,
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


class Results:
    """The file's lines. What a killed run left unfinished at its end is cut off."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lines: list[Line] = []
        data = file.read_bytes() if file.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            file.write_bytes(whole)
        for text in whole.splitlines():
            self.lines.append(msgspec.json.decode(text, type=Line))

    def add(self, line: Line) -> None:
        """Keep it, on the disk when this returns."""
        self.lines.append(line)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as out:
            out.write(msgspec.json.encode(line) + b"\n")
            out.flush()
            os.fsync(out.fileno())

    def all(self, kind: type[_Kind], case: str | None = None) -> list[_Kind]:
        """All lines of a kind, of one case where one is said."""
        found = [line for line in self.lines if isinstance(line, kind)]
        return [line for line in found if case is None or getattr(line, "case", None) == case]


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
