"""Enters a lab: this process is replaced by one that runs on a host of the lab."""

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from advisor.domain.endpoints import LabHost
from advisor.hosts.processes import replace_by
from advisor.lab.state import MARK, Host, LabFolder, LabState, labs

# util-linux before 2.38 cannot change to a folder inside the mount namespace.
_IN_FOLDER = 'cd "$1"; shift; exec "$@"'


def is_on(host: Host) -> bool:
    """Whether this process runs on that host."""
    try:
        there = Path(host.network).stat()
    except OSError:
        return _is_own(host)
    return os.path.samestat(Path("/proc/self/ns/net").stat(), there)


def measures_from(state: LabState) -> Host:
    """The host from which this process measures the paths of a lab, if it runs on one of them.

    That is the source, and in a mesh the host that it runs on.
    """
    others = state.hosts[1:] if state.mesh else ()
    return next((host for host in others if is_on(host)), state.source)


def own_name(wanted: LabHost) -> str | None:
    """This host as an endpoint of the same lab, as in `lab:NAME:HOST`; None outside of a mesh."""
    state = LabFolder(wanted.lab).read()
    if state is None:
        return None
    host = measures_from(state)
    return None if host is state.source else f"lab:{state.name}:{host.name}"


def _is_own(host: Host) -> bool:
    """Whether this process, which may not inspect the supervisor, is in that host's lab and on it.

    Inside a user namespace the supervisor has privileges that programs on its hosts do not have.
    """
    states = [place.read() for place in labs()]
    marks = [state.mark for state in states if state is not None and host in state.hosts]
    if os.environ.get(MARK) not in marks:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((host.address, 0))
        except OSError:
            return False
        return True


def command_on(state: LabState, host: Host, argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` on a host, in this folder, as this user."""
    spaces = f"/proc/{state.supervisor}/ns"
    enter = ["nsenter", f"--mount={spaces}/mnt", f"--net={host.network}"]
    if state.user_namespace and os.geteuid() != 0:
        # Root may enter and stay root: able to read the user's files, whoever owns them.
        enter += [f"--user={spaces}/user", "--preserve-credentials"]
    mark = f"{MARK}={state.mark}"
    return [*enter, "--", "env", mark, "/bin/sh", "-c", _IN_FOLDER, "sh", str(Path.cwd()), *argv]


def become(state: LabState, host: Host, argv: Sequence[str]) -> NoReturn:
    """Run `argv` on a host in place of this process. Raises OSError."""
    replace_by(command_on(state, host, argv))
