"""What ends a command with one sentence."""

import typer


class Failure(typer.TyperException):
    """The command cannot do what was asked. Exit code 1."""


class UsageError(typer.TyperException):
    """What was typed cannot be used: the option, the value, the remedy. Exit code 2."""

    exit_code = 2
