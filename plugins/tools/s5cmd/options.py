"""The options of printed and of measured lines, the search space, and the default."""

from typing import Final

from advisor.api.flow_space import AS_TYPED, flow_space, is_as_typed, most_flows
from advisor.api.object_store import PART_SIZE
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Setting, Space

_DEFAULT_WORKERS: Final = 256
_DEFAULT_PARTS: Final = 5
_DEFAULT_PART_BYTES: Final = 50 * 2**20


def workers(setting: Setting) -> list[str]:
    """How many files are moved at a time, before the command."""
    if is_as_typed(setting):
        return []
    return ["--numworkers", str(setting["concurrency"])]


def parts(setting: Setting) -> list[str]:
    """How each file is divided, after the command."""
    if is_as_typed(setting):
        return []
    size = int(setting.get("chunk_bytes", _DEFAULT_PART_BYTES)) // 2**20
    return ["--concurrency", str(setting["parallelism"]), "--part-size", str(size)]


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Files at a time and parts of each in doublings, and the size of a part."""
    # Each concurrent file is a connection, and so is each of its parts.
    most = most_flows(dataset, limits)
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    note = (
        f"up to {most['concurrency']} of {files} files at a time "
        f"({limits.max_concurrency} allowed); up to {most['parallelism']} parts of each"
    )
    return flow_space(most, PART_SIZE, note=note)


def baselines_for(dataset: Dataset) -> list[Baseline]:
    """The line without options, as users type it: s5cmd moves 256 files at a time."""
    usual: Setting = {
        "concurrency": min(_DEFAULT_WORKERS, dataset.files or _DEFAULT_WORKERS),
        "parallelism": _DEFAULT_PARTS,
        "chunk_bytes": _DEFAULT_PART_BYTES,
    }
    return [Baseline("default", {**usual, **AS_TYPED})]
