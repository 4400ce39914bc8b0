"""The search space for profiling rclone, and the baseline."""

from collections.abc import Collection
from typing import Final

from advisor.api.flow_space import AS_TYPED, flow_space, most_flows
from advisor.api.object_store import PART_SIZE
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Parameter, Setting, Space

from .options import (
    DEFAULT_CHUNK_BYTES,
    DEFAULT_OUTSTANDING,
    DEFAULT_PARTS,
    DEFAULT_TRANSFERS,
    can_send_parts,
)

_OUTSTANDING: Final = Parameter(
    name="outstanding", unit="requests", lower=DEFAULT_OUTSTANDING, upper=256, only_bounds=True
)
"""Requests of 32 KiB that a file has under way (`--sftp-concurrency`): 64 fill SSH's window of
2 MiB only if every answer comes at once."""


def space_for(
    dataset: Dataset, limits: ToolLimits, flags: Collection[str], *, to_store: bool
) -> Space:
    """Files at a time in doublings, parts of each where they can be sent at a time, and the size of
    parts in a store, or the requests under way over SFTP."""
    has_parts = to_store or can_send_parts(flags)
    # Each concurrent file is a connection, and a process of the server.
    most = most_flows(dataset, limits, has_streams=has_parts)
    other = PART_SIZE if to_store else _OUTSTANDING
    return flow_space(most, other, note=_note(dataset, limits, most))


def _note(dataset: Dataset, limits: ToolLimits, uppers: dict[str, int]) -> str:
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    at_once = (
        "one file, so nothing to move concurrently"
        if dataset.files == 1
        else f"up to {uppers['concurrency']} of {files} files at a time "
        f"({limits.max_concurrency} allowed)"
    )
    parts = (
        f"up to {uppers['parallelism']} connections for each"
        if uppers["parallelism"] > 1
        else "one connection for each, as this rclone writes over SFTP"
    )
    return f"{at_once}; {parts}"


def baselines_for(dataset: Dataset, *, to_store: bool) -> list[Baseline]:
    """The line without options, as users type it: rclone moves four files at a time."""
    files = min(DEFAULT_TRANSFERS, dataset.files or DEFAULT_TRANSFERS)
    usual: Setting = {"concurrency": files}
    if to_store:
        usual |= {"parallelism": DEFAULT_PARTS, "chunk_bytes": DEFAULT_CHUNK_BYTES}
    else:
        usual |= {"parallelism": 1, "outstanding": DEFAULT_OUTSTANDING}
    return [Baseline("default", {**usual, **AS_TYPED})]
