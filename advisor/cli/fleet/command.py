"""`advisor fleet`: many hosts, measured between each other."""

from advisor.cli.commands import group
from advisor.cli.fleet.applying import apply, pause, resume
from advisor.cli.fleet.changes import changes
from advisor.cli.fleet.demo import demo
from advisor.cli.fleet.describing import init, validate
from advisor.cli.fleet.looking import matrix, show, status
from advisor.cli.fleet.metrics import metrics
from advisor.cli.fleet.reporting import report
from advisor.cli.fleet.simulating import simulate
from advisor.cli.fleet.transfers import transfers
from advisor.cli.fleet.working import work


@group()
def fleet() -> None:
    """Describe many hosts in one file, measure between them regularly, and see what changed.

    \b
    advisor fleet init
    advisor fleet validate
    advisor fleet simulate --duration 2y --workers 64
    advisor fleet apply --store postgresql://db.example.org/advisor
    advisor fleet work
    advisor fleet status
    advisor fleet changes --since 7d
    advisor fleet report
    advisor fleet demo
    """


for _command in (
    *(init, validate, simulate, apply, work),
    *(status, matrix, show, pause, resume, changes, report, metrics, transfers, demo),
):
    fleet.add_command(_command)
