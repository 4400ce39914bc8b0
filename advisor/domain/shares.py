"""Transfers from one source to several destinations at once."""

import math
from typing import Final, Literal

import msgspec

from advisor.domain.advice import Command
from advisor.domain.quantities import format_rate

SharePurpose = Literal["train", "run"]

BASE: Final = 2
"""The concurrency of each that a factor counts from: the base case of the paper, section V."""


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """What one destination got for a while: `throughput_bps`, above 0, in bit/s.

    `concurrency`: its own files at a time, DC. `source_concurrency`: those to all destinations at
    that time, SC, of which it is a part. `when_s`: Unix time of its end.
    """

    concurrency: int
    source_concurrency: int
    throughput_bps: float
    when_s: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= self.source_concurrency:
            raise ValueError(
                f"a concurrency of {self.concurrency} out of {self.source_concurrency}: give at "
                "least 1, and no more than all together"
            )
        if not 0 < self.throughput_bps < math.inf:
            raise ValueError(f"throughput_bps is {self.throughput_bps:g}: leave out what failed")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for one destination; exactly one of the first four, else ValueError.

    `share`: beside those of the others, any number above 0. `rate_bps`: in bit/s. `factor`: of what
    it gets where every destination has `BASE` files at a time. `held`: so many files at a time,
    whatever they give. `most`: files at a time at most. `ceiling_bps`: what it is held to.
    """

    share: float | None = None
    rate_bps: float | None = None
    factor: float | None = None
    held: int | None = None
    most: int | None = None
    ceiling_bps: float | None = None

    def __post_init__(self) -> None:
        asked = [
            one for one in (self.share, self.rate_bps, self.factor, self.held) if one is not None
        ]
        if len(asked) != 1 or not 0 < asked[0] < math.inf:
            raise ValueError("ask for a share, a rate, a factor or a concurrency, above 0")

    @property
    def words(self) -> str:
        """As people read it."""
        if self.share is not None:
            return f"share {self.share:g}"
        if self.rate_bps is not None:
            return format_rate(self.rate_bps)
        if self.factor is not None:
            return f"× {self.factor:g}"
        return f"held at {self.held}"


class ShareRow(msgspec.Struct, frozen=True, kw_only=True):
    """One destination in a plan: its concurrency, and what that is expected to give.

    `asked_bps`: what was asked comes to; of shares that part of what all with shares are expected
    to get together. `interval_bps`: where its rate is expected nine times out of ten. `missed`:
    why what was asked cannot be had and what can, a sentence; "" where it can. `samples`: what its
    model was fitted to; `model_error`: the mean error of predictions of those it was validated
    with, a share.
    """

    destination: str
    asked: Asked
    asked_bps: float
    concurrency: int
    expected_bps: float
    interval_bps: tuple[float, float]
    samples: int
    model_error: float
    missed: str = ""


class SharePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Concurrencies for what was asked. `parallelism`: streams for each file, of all.

    `model`, `estimate`: form of the models with their load, and how the present load was had.
    `commands`: one a destination, in their order, to be run together. `notes`: sentences.
    """

    source: str
    parallelism: int
    model: str
    estimate: str
    rows: list[ShareRow]
    commands: list[Command] = []
    notes: list[str] = []


class ServedRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one destination got in an epoch. Rates in bit/s, None for what was not said.

    `failure`: why it got nothing, "" where it got something.
    """

    destination: str
    concurrency: int
    measured_bps: float
    expected_bps: float | None = None
    asked_bps: float | None = None
    failure: str = ""


class ShareOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one destination had got at the end. `rate_bps`: mean over the epochs it was served in.

    `moved_bytes`: what the path carried in the time that this is of, which leaves out what follows
    a change; pieces that were moved again count again.
    `asked_bps`: the mean of what was asked then, None where nothing was.
    """

    destination: str
    moved_bytes: int
    rate_bps: float
    asked_bps: float | None = None
