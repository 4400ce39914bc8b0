"""Workers of a demonstration: processes of their own, that end with this one."""

from collections.abc import Sequence
from pathlib import Path

from advisor.hosts.private_folders import VARIABLE, runtime_folder
from advisor.hosts.processes import command_bound_to_stdin
from advisor.runtime.advisor_child import ADVISOR
from advisor.store.postgres.address import Address

_ONE_STREAM = ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh")


def worker_argv(
    address: Address, folder: Path, at_once: int, program: Sequence[str] = ADVISOR
) -> list[str]:
    """The command of a worker that says on standard output what happens.

    What it keeps on this host, it keeps in `folder`. `program`: what starts advisor. Raises
    NotPrivate.
    """
    own = [f"XDG_{kind}_HOME={folder / kind.lower()}" for kind in ("STATE", "CACHE")]
    # The lab is where this process finds it.
    environment = ["env", *own, f"{VARIABLE}={runtime_folder()}"]
    work = ["fleet", "work", "--store", address.uri, "--at-once", str(at_once)]
    return command_bound_to_stdin([*_ONE_STREAM, *environment, *program, *work])
