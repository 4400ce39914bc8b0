"""What past transfers indicate for a requested one, and how far to trust it."""

from typing import Literal, TypeAlias

import msgspec

from advisor.domain.transfers import Conditions, Levels

Level: TypeAlias = Literal["concurrency", "parallelism", "pipelining"]
SurfaceKind: TypeAlias = Literal["polynomial", "flat", "smooth"]
"""HARP's regression; none, as the levels make no difference; or a smooth surface with a prior, as
there are too few transfers for the regression."""
RateAt: TypeAlias = tuple[float, float]
"""A level's value, and a throughput in bit/s."""


class SampleSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The throughput of a short transfer just now, in bit/s."""

    levels: Levels
    throughput_bps: float


class SurfaceSlice(msgspec.Struct, frozen=True, kw_only=True):
    """A group's surface along one level, with the other two fixed at `held`, and the measurements.

    `held`: levels at which the group was measured, the nearest to the answer's. `fitted`,
    `measured`: in ascending order of the level.
    """

    level: Level
    held: Levels
    fitted: list[RateAt]
    measured: list[RateAt]


class SimilarGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Past transfers under the same conditions, and what they indicate.

    `conditions`: those of one of them. `began_s`: Unix time of the first, None where not known.
    `likeness`: mean similarity to the requested transfer, in 0 … 1. `share`: its weight in the
    answer, in 0 … 1. `surface`, `degree`, `training_r2`, `validation_r2`: of what was fitted to
    them; that of a smooth surface is a quadratic of the levels' logarithms.
    `sample_bps`: the surface's value at the sample's levels, None without a sample; `answer_bps`:
    at the answer's levels. `best`, `best_bps`: where the surface is highest.
    """

    conditions: Conditions
    began_s: float | None
    transfers: int
    likeness: float
    share: float
    degree: int
    training_r2: float
    validation_r2: float
    sample_bps: float | None
    answer_bps: float
    best: Levels
    best_bps: float
    slices: list[SurfaceSlice]
    surface: SurfaceKind = "polynomial"


class GroupLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """Past transfers for which no surface fits. `reason`: a clause without a full stop."""

    conditions: Conditions
    began_s: float | None
    transfers: int
    reason: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Levels for a transfer and the evidence for them (HARP 2018, section 3.2).

    `wanted`: the requested transfer. `similar` of `known` past transfers have a similarity of at
    least `threshold`. `throughput_bps`: the expectation for `levels`. `groups`: in descending order
    of weight. `worth`: how far to trust it, in sentences.
    """

    wanted: Conditions
    known: int
    similar: int
    threshold: float
    sample: SampleSeen | None
    levels: Levels
    throughput_bps: float
    groups: list[SimilarGroup]
    left_out: list[GroupLeftOut]
    worth: str
