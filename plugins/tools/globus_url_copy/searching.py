"""The search space for profiling this tool, and the baselines."""

from typing import Final

from advisor.api.flow_space import AS_TYPED, flow_space, most_flows
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Parameter, Space

from .options import PIPELINED

_PIPELINING: Final = Parameter(name="pipelining", unit="", lower=1, upper=1, automatic=True)
"""With or without `-pp`. How many commands are sent ahead (`-ppq`) makes no difference: over 60 ms,
315 files took 12.2 s with 4 and 12.6 s with 32, and 12.8 s with as many as the tool likes."""


def _note(dataset: Dataset, limits: ToolLimits, concurrency: int, parallelism: int) -> str:
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    at_once = (
        "one file, so nothing to move concurrently"
        if dataset.files == 1
        else f"up to {concurrency} of {files} files at a time ({limits.max_concurrency} allowed)"
    )
    return f"{at_once}; up to {parallelism} streams for each ({limits.max_streams} allowed)"


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Concurrency × parallelism in doublings, with and without pipelining.

    A parameter with one value is held fixed; a single file has no pipelining.
    """
    # Each concurrent file is a process of the server.
    most = most_flows(dataset, limits)
    others = () if dataset.files == 1 else (_PIPELINING,)
    return flow_space(most, *others, note=_note(dataset, limits, **most))


def baselines_for(dataset: Dataset) -> list[Baseline]:
    """The line without options, as users type it, and the same with those that cost nothing."""
    one = {"concurrency": 1, "parallelism": 1}
    if dataset.files == 1:
        return [
            Baseline("default", {**one, **AS_TYPED}),
            Baseline("default with -fast", {**one}),
        ]
    return [
        Baseline("default", {**one, "pipelining": 1, **AS_TYPED}),
        Baseline("default with -fast -pp", {**one, **PIPELINED}),
    ]
