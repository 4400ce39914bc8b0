"""`advisor share`: several destinations of this host at once, each with its share."""

from advisor.cli.commands import group
from advisor.cli.share.models import models
from advisor.cli.share.more import more
from advisor.cli.share.plan import plan
from advisor.cli.share.train import train


@group()
def share() -> None:
    """Serve several destinations of this host at once, each with the share requested for it.

    \b
    advisor share train kraken mason blacklight --to /scratch
    advisor share plan kraken=4 mason=5 blacklight=6

    What a destination gets depends on how many concurrent files go to it, and on how many go to
    all. `share train` measures this and fits models; `share plan` uses them to find the concurrency
    for each requested share (Kettimuthu et al. 2014).
    """


for _command in (train, plan, more, models):
    share.add_command(_command)
