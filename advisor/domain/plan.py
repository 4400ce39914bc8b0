"""How a dataset will be moved, class by class."""

from typing import Literal

import msgspec

from advisor.domain.advice import Command
from advisor.domain.endpoints import Pair
from advisor.domain.evidence import Evidence, SampleSeen
from advisor.domain.printable import escape_fields
from advisor.domain.transfers import Levels

Order = Literal["together", "one after the other"]


class ClassPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one class, and the levels used to move them.

    `size`: tiny, small, medium or large. `alone`: the levels it would have if it were moved alone,
    from which the scheduler made `levels`. `expected_bps`: the expected throughput, None where
    there is no basis for one. `sample`: the result of its sample transfer. `reason`: a sentence.
    `evidence`: what past transfers indicate, where they were consulted.
    """

    size: str
    files: int
    total_bytes: int
    levels: Levels
    alone: Levels
    expected_bps: float | None = None
    sample: SampleSeen | None = None
    reason: str = ""
    evidence: Evidence | None = None


class TransferPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All classes, from tiny to large, and the commands that move them.

    `method`: whose rules it follows. `order`: whether classes are moved together. `commands`: one
    per class; if classes are moved one after the other, run the commands in that order. `pay_off`:
    whether a sample pays off, "" where this is not known. `notes`: sentences on what is left out
    and on conditions.
    """

    method: str
    order: Order
    classes: list[ClassPlan]
    commands: list[Command]
    pay_off: str = ""
    notes: list[str] = []


class ClassProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a class: what arrived and was checked, out of its total.

    `moved_bytes`: includes files in flight. `rate_bps`: since the last report. `clients`: now
    running, where `concurrency` are wanted, each over `parallelism` streams.
    """

    size: str
    files: int
    total_files: int
    moved_bytes: int
    total_bytes: int
    rate_bps: float
    clients: int
    parallelism: int
    concurrency: int = 0


class NodeProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How one node of a transfer over several does; nodes are numbered from 1.

    `moved_bytes`: of it that have arrived and were checked. `clients` now run, where `concurrency`
    are wanted, each over `parallelism` streams. `message`: why it is lost or has ended.
    """

    number: int
    pair: Pair
    state: Literal["connecting", "moving", "lost", "ended"]
    moved_bytes: int = 0
    rate_bps: float = 0.0
    clients: int = 0
    concurrency: int = 0
    parallelism: int = 0
    message: str = ""

    def __post_init__(self) -> None:
        escape_fields(self, ("message",))
