"""The options of printed and of measured lines, and the defaults."""

from typing import Final

from advisor.api.command_line import quoted_line
from advisor.api.flow_space import AS_TYPED, is_as_typed
from advisor.api.values import Baseline, Setting

from .known import Server, ssh_words

_ONE: Final[Setting] = {"concurrency": 1, "parallelism": 1}


def remote_shell(server: Server, setting: Setting, bound_address: str) -> str:
    """What `-e` is given. As typed, nothing but the way to the server is set."""
    if not is_as_typed(setting):
        return quoted_line(ssh_words(server, bound_address))
    port = ["-p", str(server.port)] if server.port else []
    return quoted_line(["ssh", *port, *(["-b", bound_address] if bound_address else [])])


def options_of(setting: Setting) -> list[str]:
    """Those of every process.

    Without `-s`, the shell at the destination gets the names where rsync is older than 3.2.4: it
    takes them apart at spaces, and runs what they say. So the line as typed has it too.
    """
    return ["-a", "-s"] if is_as_typed(setting) else ["-a", "-s", "--whole-file"]


def made_first(folder: str) -> str:
    """For `--rsync-path`: that folder, of the destination, is there before rsync is.

    Processes that begin at the same time may all do that. With `--mkpath`, all but one of them may
    fail. rsync itself reports the folder that cannot be made.
    """
    return f"mkdir -p {quoted_line([folder])}; rsync"


def baselines_for(server: Server | None) -> list[Baseline]:
    """The line as users type it, and the same with the options that cost nothing."""
    options = f"-c {server.cipher}" if server and server.cipher else "--whole-file"
    return [
        Baseline("default", {**_ONE, **AS_TYPED}),
        Baseline(f"default with {options}", {**_ONE}),
    ]
