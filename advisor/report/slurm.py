"""The line of advice as a job for Slurm."""

import math
from typing import Final

from advisor.domain.advice import Advice
from advisor.domain.space import processes_of
from advisor.report.script import script_text

_SHELL: Final = "#!/bin/sh\n"
_RESERVE: Final = 1.5
_LEAST_MINUTES: Final = 10


def slurm_text(advice: Advice) -> str:
    """The job: the advice's script behind directives in which there is nothing but numbers.

    Slurm reads directives up to the first command, which therefore comes before any text of the
    advice. Raises ValueError when there is no line that the source runs alone.
    """
    paired = {command.tool for command in advice.commands if command.side == "destination"}
    if all(command.tool in paired for command in advice.commands):
        raise ValueError("this advice has no line that one job on the source can run alone")
    cores = max(1, processes_of(advice.setting))
    lines = [
        "#SBATCH --job-name=transfer",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks=1",
        f"#SBATCH --cpus-per-task={cores}",
        *_time(advice),
        "#SBATCH --output=transfer-%j.log",
        "",
        'echo "job ${SLURM_JOB_ID:-without a number} on $(uname -n)"',
        "",
        "# Submit it with 'sbatch FILE', on a cluster whose nodes reach the destination, or with",
        "# --nodelist or --partition for its data transfer nodes. It changes no setting of a host.",
        "",
    ]
    return _SHELL + "\n".join(lines) + script_text(advice).removeprefix(_SHELL)


def _time(advice: Advice) -> list[str]:
    """Half as long again as the transfer takes at most; without a dataset, the partition's."""
    if advice.transfer_s is None or not math.isfinite(advice.transfer_s.interval[1]):
        return []
    minutes = math.ceil(advice.transfer_s.interval[1] * _RESERVE / 60) + _LEAST_MINUTES
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return [f"#SBATCH --time={days}-{hours:02}:{minutes:02}:00"]
