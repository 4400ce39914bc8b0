"""The settings, and the options of printed and of measured lines."""

from typing import Final

from advisor.api.command_line import shell_line
from advisor.api.tool import ToolLimits
from advisor.api.values import Baseline, Dataset, Parameter, Scale, Setting, Space, last_doubling

from .known import Server, ssh_words

AS_TYPED: Final[Setting] = {"options": "none"}
"""Marks the setting whose line has no options but -a, as typed by users who tune nothing."""

_ONE: Final[Setting] = {"concurrency": 1, "parallelism": 1}


def is_as_typed(setting: Setting) -> bool:
    """Whether the line is that of a user who tunes nothing."""
    return setting.items() >= AS_TYPED.items()


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
    most_files = limits.max_concurrency if dataset.files is None else dataset.files
    most = last_doubling(min(most_files, limits.max_concurrency))
    processes = Parameter(name="concurrency", unit="files", lower=1, upper=most, scale=Scale.LOG2)
    files = "an unknown number of" if dataset.files is None else str(dataset.files)
    note = f"up to {most} processes for {files} files ({limits.max_concurrency} allowed)"
    if most == 1:
        note = "one file, which is moved over one connection"
    return Space(
        parameters=(processes,) if most > 1 else (),
        # Each is a connection, and a process at both ends.
        cost_order=("concurrency",) if most > 1 else (),
        fixed={"parallelism": 1} if most > 1 else {**_ONE},
        note=note,
    )


def baselines_for(server: Server | None) -> list[Baseline]:
    """The line as users type it, and the same with the options that cost nothing."""
    options = f"-c {server.cipher}" if server and server.cipher else "--whole-file"
    return [
        Baseline("default", {**_ONE, **AS_TYPED}),
        Baseline(f"default with {options}", {**_ONE}),
    ]
