"""The search space for profiling rclone, and the baseline."""

from collections.abc import Collection
from typing import Final

from advisor.api.flow_space import AS_TYPED, flow_space, most_flows
from advisor.api.object_store import PART_SIZE
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Parameter, Setting, Space

from .known import Login, Store
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
"""Requests of 32 KiB that a file has under way (`--sftp-concurrency`): the default fills SSH's
usual window of 2 MiB, so that more help only where the server has a wider one."""


def space_for(
    dataset: Dataset, limits: ToolLimits, flags: Collection[str], server: Login | Store | None
) -> Space:
    """Files at a time in doublings, parts of each where they can be sent at a time, and the size of
    parts in a store, or the requests under way over SFTP."""
    has_parts = isinstance(server, Store) or can_send_parts(flags)
    # Each concurrent file is a connection, and a process of the server.
    most = most_flows(dataset, limits, has_streams=has_parts)
    others = [PART_SIZE] if isinstance(server, Store) else []
    if _searches_outstanding(server):
        others.append(_OUTSTANDING)
    return flow_space(most, *others, note=_note(dataset, limits, most))


def _searches_outstanding(server: Login | Store | None) -> bool:
    return server is None or (isinstance(server, Login) and server.may_widen)


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


def baselines_for(dataset: Dataset, server: Login | Store | None) -> list[Baseline]:
    """The line without options, as users type it: rclone moves four files at a time."""
    files = min(DEFAULT_TRANSFERS, dataset.files or DEFAULT_TRANSFERS)
    usual: Setting = {"concurrency": files, "parallelism": 1}
    if isinstance(server, Store):
        usual |= {"parallelism": DEFAULT_PARTS, "chunk_bytes": DEFAULT_CHUNK_BYTES}
    elif _searches_outstanding(server):
        usual |= {"outstanding": DEFAULT_OUTSTANDING}
    return [Baseline("default", {**usual, **AS_TYPED})]
