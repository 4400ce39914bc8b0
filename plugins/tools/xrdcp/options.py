"""The settings of measured lines, the search space, and the default."""

from advisor.api.flow_space import flow_space, most_flows
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Setting, Space


def processes_for(setting: Setting, files: int | None) -> int:
    """How many processes send files at the same time, each over a connection of its own."""
    wanted = int(setting.get("concurrency", 1))
    return min(wanted, files) if files else wanted


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Processes in doublings, one connection each. A file is sent by a single one."""
    most = most_flows(dataset, limits, has_streams=False)
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    processes = most["concurrency"]
    note = f"up to {processes} processes for {files} files ({limits.max_concurrency} allowed)"
    if processes == 1:
        note = "one file, which is sent over one connection"
    return flow_space(most, note=note)


def baselines_for() -> list[Baseline]:
    """The line as users type it: one file after another. No option of a single process is tuned."""
    return [Baseline("default", {"concurrency": 1, "parallelism": 1})]
