"""`advisor fleet`: many hosts, measured between each other."""

from advisor.cli.commands import group
from advisor.cli.fleet.describing import init, validate


@group()
def fleet() -> None:
    """Describe many hosts in one file, and find out what measuring them would take.

    \b
    advisor fleet init
    advisor fleet validate
    """


for _command in (init, validate):
    fleet.add_command(_command)
