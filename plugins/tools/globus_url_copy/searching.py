"""The search space for profiling this tool, and the baseline."""

from advisor.api.tool import ToolLimits
from advisor.api.values import (
    GLOBUS_LARGE_FILES,
    Baseline,
    Dataset,
    Parameter,
    Scale,
    Setting,
    Space,
)

from .options import AS_TYPED


def _last_doubling(most: int) -> int:
    """The largest power of two up to a number; 1 for less than 2."""
    return 1 << (max(1, most).bit_length() - 1)


def _note(dataset: Dataset, limits: ToolLimits, concurrency: int, parallelism: int) -> str:
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    at_once = (
        "one file, so nothing to move concurrently"
        if dataset.files == 1
        else f"up to {concurrency} of {files} files at a time ({limits.max_concurrency} allowed)"
    )
    return f"{at_once}; up to {parallelism} streams for each ({limits.max_streams} allowed)"


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Concurrency × parallelism in doublings; a parameter with one value is held fixed."""
    most_files = limits.max_concurrency if dataset.files is None else dataset.files
    uppers = {
        "concurrency": _last_doubling(min(most_files, limits.max_concurrency)),
        "parallelism": _last_doubling(limits.max_streams),
    }
    units = {"concurrency": "files", "parallelism": "streams"}
    searched = [name for name, upper in uppers.items() if upper > 1]
    return Space(
        parameters=tuple(
            Parameter(name=name, unit=units[name], lower=1, upper=uppers[name], scale=Scale.LOG2)
            for name in searched
        ),
        # The most expensive first: each concurrent file is a process of the server.
        cost_order=tuple(searched),
        fixed={name: 1 for name in uppers if name not in searched},
        note=_note(dataset, limits, uppers["concurrency"], uppers["parallelism"]),
    )


def baselines_for(dataset: Dataset) -> list[Baseline]:
    """What Globus uses, as users type it.

    A single file needs no mark: the options beyond `-p` had no measurable effect for it, so it is
    the same setting as that of the search.
    """
    parallelism = GLOBUS_LARGE_FILES.parallelism
    if dataset.files == 1:
        return [Baseline("default", {"concurrency": 1, "parallelism": parallelism})]
    default: Setting = {
        "concurrency": GLOBUS_LARGE_FILES.concurrency,
        "parallelism": parallelism,
    }
    return [Baseline("default", default | AS_TYPED)]
