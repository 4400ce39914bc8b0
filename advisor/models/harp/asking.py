"""HARP's inputs in the terms of a search: conditions, a box of levels, where to sample.

In a space with streams only, these are treated as the parallelism of one concurrent file.
"""

from collections.abc import Mapping
from typing import Final

from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.space import AUTOMATIC, Parameter, Space
from advisor.domain.transfers import Conditions, Levels
from advisor.models.harp.optimum import LevelBounds
from advisor.models.transfer_heuristics import buffer_of, class_levels
from advisor.models.transfer_parameters import Role, pipelining_level, role_of

_SUPPOSED_FILE_BYTES: Final = 2.0**30


def conditions_of(
    dataset: Dataset | None, path: PathFacts | None, bandwidth_bps: float | None
) -> Conditions:
    """The conditions of the transfer. Files that were not counted are assumed to be 1 GiB each."""
    files = dataset.files if dataset else None
    mean_bytes = dataset.total_bytes / files if dataset and files else 0.0
    return Conditions(
        file_bytes=mean_bytes or _SUPPOSED_FILE_BYTES,
        file_count=files,
        bandwidth_bps=bandwidth_bps,
        rtt_s=path.rtt_s if path else None,
        buffer_bytes=buffer_of(path) if path else None,
    )


def sample_levels(
    dataset: Dataset | None,
    path: PathFacts | None,
    bdp_bytes: float | None,
    most_concurrency: int,
) -> Levels:
    """Single Chunk's levels for the class of files that has the most bytes."""
    buffer_bytes = buffer_of(path) if path else None
    found = class_levels(dataset, bdp_bytes, buffer_bytes, most_concurrency)
    _, levels = max(found, key=lambda one: one[0].total_bytes if one[0] else 0)
    return levels


def levels_in(space: Space, setting: Mapping[str, object]) -> Levels:
    """A setting of the space as the paper's three levels; those the space lacks are 1."""
    values = {role_of(p): int(float(str(setting.get(p.name, 1)))) for p in space.parameters}
    return Levels(
        concurrency=max(1, values.get(Role.CONCURRENCY, 1)),
        parallelism=max(1, values.get(Role.PARALLELISM, values.get(Role.STREAMS, 1))),
        pipelining=pipelining_level(values.get(Role.PIPELINING, 1)),
    )


def box_of(space: Space) -> LevelBounds:
    """The levels the space allows."""
    return LevelBounds(
        lower=levels_in(space, {p.name: p.lower for p in space.parameters}),
        upper=levels_in(space, {p.name: _highest(p) for p in space.parameters}),
    )


def _highest(parameter: Parameter) -> int:
    """The value with the highest level: with pipelining, where that is a choice."""
    is_choice = parameter.automatic and role_of(parameter) is Role.PIPELINING
    return AUTOMATIC if is_choice else parameter.upper
