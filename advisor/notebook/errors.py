"""What the Python interface raises."""

from advisor.domain.problem import ProblemError


class AdvisorError(ProblemError):
    """What went wrong, as data in `problem`: kind, reason, remedy, command and host."""
