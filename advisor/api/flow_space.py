"""The search space of tools that move several files at a time, each over several streams."""

from typing import Final

from advisor.api.tool import ToolLimits
from advisor.domain.dataset import Dataset
from advisor.domain.space import Parameter, Scale, Setting, Space, concurrency_of, last_doubling

__all__ = ["AS_TYPED", "flow_space", "is_as_typed", "most_flows", "process_space", "processes_for"]

AS_TYPED: Final[Setting] = {"options": "none"}
"""Marks the setting whose line has no options, as typed by users who tune nothing."""

_UNITS: Final = {"concurrency": "files", "parallelism": "streams"}


def is_as_typed(setting: Setting) -> bool:
    """Whether the line is that of a user who tunes nothing."""
    return setting.items() >= AS_TYPED.items()


def most_flows(dataset: Dataset, limits: ToolLimits, *, has_streams: bool = True) -> dict[str, int]:
    """The most files at a time, and streams of each, both powers of two.

    `has_streams`: whether a file can be moved over several.
    """
    most_files = limits.max_concurrency if dataset.files is None else dataset.files
    return {
        "concurrency": last_doubling(min(most_files, limits.max_concurrency)),
        "parallelism": last_doubling(limits.max_streams) if has_streams else 1,
    }


def flow_space(most: dict[str, int], *others: Parameter, note: str) -> Space:
    """Both in doublings up to `most`, fixed where they have one value, and other parameters.

    The earlier ones are the more expensive.
    """
    searched = [
        Parameter(name=name, unit=_UNITS[name], lower=1, upper=upper, scale=Scale.LOG2)
        for name, upper in most.items()
        if upper > 1
    ]
    parameters = (*searched, *others)
    names = tuple(parameter.name for parameter in parameters)
    return Space(
        parameters=parameters,
        cost_order=names,
        fixed={name: 1 for name in most if name not in names},
        note=note,
    )


def process_space(dataset: Dataset, limits: ToolLimits) -> Space:
    """Processes in doublings, each with one connection and a share of the files."""
    most = most_flows(dataset, limits, has_streams=False)
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    processes = most["concurrency"]
    note = f"up to {processes} processes for {files} files ({limits.max_concurrency} allowed)"
    if processes == 1:
        note = "one file, which is moved over one connection"
    return flow_space(most, note=note)


def processes_for(setting: Setting, files: int | None) -> int:
    """How many processes move files at the same time, each over a connection of its own."""
    wanted = concurrency_of(setting)
    return min(wanted, files) if files else wanted
