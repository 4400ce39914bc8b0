"""The settings, and the options of printed and of measured lines."""

from typing import Final

from advisor.api.command_line import shell_line
from advisor.api.flow_space import AS_TYPED, flow_space, is_as_typed, most_flows
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Setting, Space

from .known import Server, ssh_words

_ONE: Final[Setting] = {"concurrency": 1, "parallelism": 1}


def remote_shell(server: Server, setting: Setting, bound_address: str) -> str:
    """What `-e` is given. As typed, nothing but the way to the server is set."""
    if not is_as_typed(setting):
        return shell_line(ssh_words(server, bound_address))
    port = ["-p", str(server.port)] if server.port else []
    return shell_line(["ssh", *port, *(["-b", bound_address] if bound_address else [])])


def options_of(setting: Setting) -> list[str]:
    """Those of every process: `-s` keeps names with spaces whole in older versions too."""
    return ["-a"] if is_as_typed(setting) else ["-a", "-s", "--whole-file"]


def made_first(folder: str) -> str:
    """For `--rsync-path`: that folder, of the destination, is there before rsync is.

    Processes that begin at the same time may all do that. With `--mkpath`, all but one of them may
    fail. rsync itself reports the folder that cannot be made.
    """
    return f"mkdir -p {shell_line([folder])}; rsync"


def processes_for(setting: Setting, files: int | None) -> int:
    """How many processes move files at the same time."""
    wanted = int(setting.get("concurrency", 1))
    return min(wanted, files) if files else wanted


def space_for(dataset: Dataset, limits: ToolLimits) -> Space:
    """Processes in doublings, one connection each. A file is moved by a single one."""
    # Each process is a connection, and a process at both ends.
    most = most_flows(dataset, limits, has_streams=False)
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    processes = most["concurrency"]
    note = f"up to {processes} processes for {files} files ({limits.max_concurrency} allowed)"
    if processes == 1:
        note = "one file, which is moved over one connection"
    return flow_space(most, note=note)


def baselines_for(server: Server | None) -> list[Baseline]:
    """The line as users type it, and the same with the options that cost nothing."""
    options = f"-c {server.cipher}" if server and server.cipher else "--whole-file"
    return [
        Baseline("default", {**_ONE, **AS_TYPED}),
        Baseline(f"default with {options}", {**_ONE}),
    ]
