"""What ends a command with one sentence."""

import typer

from advisor.domain.problem import ProblemError, ProblemKind


class CommandFailed(ProblemError, typer.TyperException):
    """The command cannot do what was asked. Exit code 1."""


class UsageError(ProblemError, typer.TyperException):
    """What was typed cannot be used: the option, the value, the remedy. Exit code 2."""

    kind = ProblemKind.INVALID

    exit_code = 2
