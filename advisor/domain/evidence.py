"""What past transfers say of one that is wanted, and how far to trust it."""

from typing import Literal, TypeAlias

import msgspec

from advisor.domain.transfers import Conditions, Levels

Level: TypeAlias = Literal["concurrency", "parallelism", "pipelining"]
RateAt: TypeAlias = tuple[float, float]
"""A level's value, and a throughput in bit/s."""


class SampleSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What a short transfer gave just now, in bit/s."""

    levels: Levels
    throughput_bps: float


class SurfaceSlice(msgspec.Struct, frozen=True, kw_only=True):
    """A group's surface along one level, the other two held at `held`, beside what was measured.

    `held`: levels that the group was measured at, the nearest to the answer's. `fitted`,
    `measured`: from the least value of the level to the greatest.
    """

    level: Level
    held: Levels
    fitted: list[RateAt]
    measured: list[RateAt]


class SimilarGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Past transfers that met the same conditions, and what they say.

    `conditions`: of one of them. `began_s`: Unix time of the first, None where it is not known.
    `likeness`: mean similarity to what is wanted, in 0 … 1. `share`: of the answer's weight, in
    0 … 1. `degree`, `training_r2`, `validation_r2`: of the surface fitted to them.
    `sample_bps`: what the surface says of the sample's levels, None without one; `answer_bps`: what
    it says of the answer's. `best`, `best_bps`: where the surface is highest.
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


class GroupLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """Past transfers without a surface that fits. `reason`: a clause without a full stop."""

    conditions: Conditions
    began_s: float | None
    transfers: int
    reason: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Levels for a transfer and what they stand on (HARP 2018, section 3.2).

    `wanted`: the transfer asked about. `similar` of `known` past transfers are as like it as
    `threshold` or more. `throughput_bps`: what is expected of `levels`. `groups`: from the most
    weight to the least. `worth`: how far to trust it, in sentences.
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
