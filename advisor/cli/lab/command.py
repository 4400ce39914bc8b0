"""`advisor lab`: a wide-area testbed on this machine."""

from advisor.cli.commands import group
from advisor.cli.lab.changing import cut, load, restore, schedule, set_
from advisor.cli.lab.lifecycle import down, up
from advisor.cli.lab.looking import check, files, paths, status
from advisor.cli.lab.profile import profile
from advisor.cli.lab.running import exec_


@group()
def lab() -> None:
    """Create hosts joined by an emulated wide-area path on this machine, and use it.

    \b
    advisor lab up wan --rtt 93.6ms --loss 3e-4
    advisor advise lab:wan
    advisor lab down wan

    Needs no privileges where user namespaces are allowed, otherwise root. No interface of this
    machine is changed.
    """


for _command in (
    up,
    set_,
    cut,
    restore,
    load,
    schedule,
    status,
    files,
    check,
    profile,
    down,
    paths,
    exec_,
):
    lab.add_command(_command)
