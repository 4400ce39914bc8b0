"""The options of printed and of measured lines, the search space, and the default."""

from typing import Final

from advisor.api.flow_space import AS_TYPED, flow_space, is_as_typed, most_flows
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Setting, Space

MOST_STREAMS: Final = 16
"""More, aria2c does not accept for a file from one server."""

NOTHING_ELSE: Final = ("--follow-torrent=false", "--follow-metalink=false")
"""Files that list other downloads are files."""

_DEFAULT_FILES: Final = 5
_ALLOCATION: Final = ("--file-allocation", "falloc")


def options_of(setting: Setting, *, several: bool) -> list[str]:
    """How many files at a time where there are several, and over how many connections each."""
    if is_as_typed(setting):
        return []
    streams = str(min(int(setting["parallelism"]), MOST_STREAMS))
    options = ["-x", streams, "-s", streams, "-k", "1M"]
    options += ["-j", str(setting["concurrency"])] if several else []
    if buffer_bytes := int(setting.get("buffer_bytes", 0)):
        options += ["--socket-recv-buffer-size", str(buffer_bytes)]
    return [*options, *_ALLOCATION]


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Files at a time and connections for each in doublings."""
    most = most_flows(dataset, limits)
    most["parallelism"] = min(most["parallelism"], MOST_STREAMS)
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    note = (
        f"up to {most['concurrency']} of {files} files at a time "
        f"({limits.max_concurrency} allowed); up to {most['parallelism']} connections for each"
    )
    return flow_space(most, note=note)


def baselines_for(dataset: Dataset) -> list[Baseline]:
    """The line without options, as users type it: five files at a time, a connection for each."""
    files = min(_DEFAULT_FILES, dataset.files or _DEFAULT_FILES)
    return [Baseline("default", {"concurrency": files, "parallelism": 1, **AS_TYPED})]
