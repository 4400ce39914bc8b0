"""Goes into a lab: this process becomes one that runs on a host of it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from advisor.hosts.processes import replace_by
from advisor.lab.state import MARK, Host, LabState

# util-linux before 2.38 cannot change to a folder inside the mount namespace.
_IN_FOLDER = 'cd "$1"; shift; exec "$@"'


def is_on(host: Host) -> bool:
    """Whether this process runs on that host."""
    try:
        there = Path(host.network).stat()
    except OSError:
        return False
    here = Path("/proc/self/ns/net").stat()
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def command_on(state: LabState, host: Host, argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` on a host, in this folder, as this user."""
    spaces = f"/proc/{state.keeper}/ns"
    enter = ["nsenter", f"--mount={spaces}/mnt", f"--net={host.network}"]
    if state.user_namespace and os.geteuid() != 0:
        # Root may go in and stay what it is: able to read the user's files, whoever owns them.
        enter += [f"--user={spaces}/user", "--preserve-credentials"]
    mark = f"{MARK}={state.mark}"
    return [*enter, "--", "env", mark, "/bin/sh", "-c", _IN_FOLDER, "sh", str(Path.cwd()), *argv]


def become(state: LabState, host: Host, argv: Sequence[str]) -> NoReturn:
    """Run `argv` on a host in place of this process. Raises OSError."""
    replace_by(command_on(state, host, argv))
