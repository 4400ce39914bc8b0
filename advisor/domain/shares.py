"""Transfers from one source to several destinations at once."""

import math
from typing import Final, Literal, TypeAlias

import msgspec

from advisor.domain.advice import Command
from advisor.domain.bounded import Figure, UnixTime, Whole
from advisor.domain.printable import ShownText
from advisor.domain.quantities import format_rate

SharePurpose = Literal["train", "run"]

Concurrencies: TypeAlias = dict[str, int]
"""Concurrent files, by destination."""

BASE: Final = 2
"""The concurrency of each that a factor refers to: the base case of the paper, section V."""


class Served(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one destination got in a period: `throughput_bps`, above 0, in bit/s.

    `concurrency`: its concurrent files, DC. `source_concurrency`: the concurrent files to all
    destinations at that time, SC, which includes them. `parallelism`: the streams of each of its
    files; `source_streams`: those to all destinations together; 0 where they are not known.
    `when_s`: Unix time of the period's end.
    """

    concurrency: Whole
    source_concurrency: Whole
    throughput_bps: Figure
    parallelism: Whole = 0
    source_streams: Whole = 0
    when_s: UnixTime = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= self.source_concurrency:
            raise ValueError(
                f"a concurrency of {self.concurrency} out of {self.source_concurrency}: it must be "
                "at least 1 and at most the total"
            )
        if self.parallelism and self.source_streams < self.concurrency * self.parallelism:
            raise ValueError(f"{self.source_streams} streams in all: its own are more")
        if not 0 < self.throughput_bps < math.inf:
            raise ValueError(f"throughput_bps is {self.throughput_bps:g}: leave out what failed")

    @property
    def streams(self) -> "Streams | None":
        """Of its files and of all; None where they are not known."""
        if not self.parallelism:
            return None
        return Streams(self.parallelism, self.source_streams / self.source_concurrency)

    @property
    def levels(self) -> tuple[int, int, int, int]:
        """What was set: samples with the same differ by the external load and by chance."""
        return self.concurrency, self.source_concurrency, self.parallelism, self.source_streams


class Streams(msgspec.Struct, frozen=True):
    """`own`: streams of each file of a destination; `mean`: of each file to any, on average."""

    own: float
    mean: float


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is requested for one destination; exactly one of the first four, else ValueError.

    `share`: relative to the other shares, any number above 0. `rate_bps`: in bit/s. `factor`: of
    the rate it gets where every destination has `BASE` concurrent files. `held`: a fixed number of
    concurrent files, whatever rate they give. `most`: the upper limit of concurrent files.
    `ceiling_bps`: the rate limit.
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
        """The request as text."""
        if self.share is not None:
            return f"share {self.share:g}"
        if self.rate_bps is not None:
            return format_rate(self.rate_bps)
        if self.factor is not None:
            return f"× {self.factor:g}"
        return f"held at {self.held}"


class ShareRow(msgspec.Struct, frozen=True, kw_only=True):
    """One destination in a plan: its concurrency and the throughput expected of it.

    `asked_bps`: the requested rate; of a share, that fraction of what all destinations with shares
    are expected to get together. `interval_bps`: 90 % prediction interval of its rate. `missed`:
    why the request cannot be met and what can, a sentence; "" where it can. `samples`: the number
    of samples its model was fitted to; `model_error`: the mean relative error of its predictions
    on the validation samples.
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
    """Concurrencies that meet the requests. `parallelism`: streams per file, for all destinations.

    `tool`: what moves the files, "" in events of older versions. `model`, `estimate`: the form of
    the models with their load, and how the present load was estimated. `commands`: one per
    destination, in their order, to be run together. `notes`: sentences.
    """

    source: str
    parallelism: int
    model: str
    estimate: str
    rows: list[ShareRow]
    tool: ShownText = ""
    commands: list[Command] = []
    notes: list[str] = []


class ServedRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one destination got in an epoch. Rates in bit/s, None where not given.

    `parallelism`: streams of each of its files, None in events of older versions. `error`: relative
    standard error of the measured rate within the epoch, None where too little was seen.
    `failure`: why it got nothing, "" where it got something.
    """

    destination: str
    concurrency: int
    measured_bps: float
    expected_bps: float | None = None
    asked_bps: float | None = None
    parallelism: int | None = None
    error: float | None = None
    failure: str = ""


class ShareOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The final result of one destination. `rate_bps`: mean over the epochs it was served in.

    `moved_bytes`: what the path carried in the time covered, which excludes the settling time after
    a change; pieces that were moved again count again.
    `asked_bps`: the mean of the rates requested then, None where there were none.
    """

    destination: str
    moved_bytes: int
    rate_bps: float
    asked_bps: float | None = None
