"""The options of printed and of measured lines, the search space, and the default."""

from typing import Final

from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Parameter, Scale, Setting, Space, last_doubling

AS_TYPED: Final[Setting] = {"options": "none"}
"""Marks the setting whose line has no options, as typed by users who tune nothing."""

_DEFAULT_WORKERS: Final = 256
_DEFAULT_PARTS: Final = 5
_DEFAULT_PART_BYTES: Final = 50 * 2**20
_LEAST_PART_BYTES: Final = 5 * 2**20

_PART: Final = Parameter(
    name="chunk_bytes",
    unit="B",
    lower=_LEAST_PART_BYTES,
    upper=16 * _LEAST_PART_BYTES,
    scale=Scale.LOG2,
    quantum=_LEAST_PART_BYTES,
)
"""The size of a part of an object, which is sent over a connection of its own: `--part-size`."""


def workers(setting: Setting) -> list[str]:
    """How many files are moved at a time, before the command."""
    if setting.items() >= AS_TYPED.items():
        return []
    return ["--numworkers", str(setting["concurrency"])]


def parts(setting: Setting) -> list[str]:
    """How each file is divided, after the command."""
    if setting.items() >= AS_TYPED.items():
        return []
    size = int(setting.get("chunk_bytes", _DEFAULT_PART_BYTES)) // 2**20
    return ["--concurrency", str(setting["parallelism"]), "--part-size", str(size)]


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Files at a time and parts of each in doublings, and the size of a part."""
    most_files = limits.max_concurrency if dataset.files is None else dataset.files
    uppers = {
        "concurrency": last_doubling(min(most_files, limits.max_concurrency)),
        "parallelism": last_doubling(limits.max_streams),
    }
    units = {"concurrency": "files", "parallelism": "streams"}
    searched = tuple(
        Parameter(name=name, unit=units[name], lower=1, upper=upper, scale=Scale.LOG2)
        for name, upper in uppers.items()
        if upper > 1
    )
    names = [*(parameter.name for parameter in searched), _PART.name]
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    return Space(
        parameters=(*searched, _PART),
        # Each concurrent file is a connection, and so is each of its parts.
        cost_order=tuple(names),
        fixed={name: 1 for name in uppers if name not in names},
        note=f"up to {uppers['concurrency']} of {files} files at a time "
        f"({limits.max_concurrency} allowed); up to {uppers['parallelism']} parts of each",
    )


def baselines_for(dataset: Dataset) -> list[Baseline]:
    """The line without options, as users type it: s5cmd moves 256 files at a time."""
    usual: Setting = {
        "concurrency": min(_DEFAULT_WORKERS, dataset.files or _DEFAULT_WORKERS),
        "parallelism": _DEFAULT_PARTS,
        "chunk_bytes": _DEFAULT_PART_BYTES,
    }
    return [Baseline("default", {**usual, **AS_TYPED})]
