"""`advisor fleet`: many hosts, measured between each other."""

from advisor.cli.commands import group
from advisor.cli.fleet.changes import changes
from advisor.cli.fleet.describing import init, validate


@group()
def fleet() -> None:
    """Describe many hosts in one file, find out what measuring them would take, and what changed.

    \b
    advisor fleet init
    advisor fleet validate
    advisor fleet changes --since 7d
    """


for _command in (init, validate, changes):
    fleet.add_command(_command)
