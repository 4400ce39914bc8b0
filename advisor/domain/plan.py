"""How a dataset is to be moved, class by class."""

from typing import Literal

import msgspec

from advisor.domain.advice import Command
from advisor.domain.evidence import Evidence, SampleSeen
from advisor.domain.transfers import Levels

Order = Literal["together", "one after the other"]


class ClassPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one class, and the levels they are moved with.

    `size`: tiny, small, medium or large. `alone`: the levels it would have if it were moved alone,
    which the scheduler lowered to `levels`. `expected_bps`: what it would then give, None where
    nothing says so. `sample`: what its sample transfer gave. `reason`: a sentence.
    `evidence`: what past transfers say, where they were asked.
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
    """All classes, from tiny to large, and the lines that move them.

    `method`: whose rules it follows. `order`: whether classes are moved together. `commands`: one a
    class; with an order of one after the other, to be run in theirs. `pay_off`: whether a sample
    pays off, "" where nothing can be said. `notes`: sentences on what is left out or must hold.
    """

    method: str
    order: Order
    classes: list[ClassPlan]
    commands: list[Command]
    pay_off: str = ""
    notes: list[str] = []


class ClassProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a class is: what arrived and was checked, beside all there is.

    `moved_bytes`: with those under way. `rate_bps`: since the last look. `clients`: under way now,
    where `concurrency` are wanted, each over `parallelism` streams.
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
