"""`advisor lab exec`: runs a command on a host of a lab."""

from typing import Annotated

import typer

from advisor.cli.commands import command
from advisor.cli.lab.options import (
    NameArgument,
)
from advisor.cli.lab.orders import lab_errors
from advisor.domain.shell import shell_line
from advisor.lab.state import LabError


@command("exec", context_settings={"ignore_unknown_options": True})
@lab_errors
def exec_(
    name: NameArgument,
    argv: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND", show_default="a shell", help="The command and its arguments."
        ),
    ] = None,
    *,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The host to run it on.")
    ] = "source",
) -> int:
    """Run COMMAND on a host of the lab, the source by default; without one, a shell.

    \b
    advisor lab exec wan -- ping far
    advisor lab exec wan --host far -- iperf3 -s
    """
    import os

    from advisor.lab.enter import become
    from advisor.lab.state import state_of

    state = state_of(name)
    words = argv or [os.environ.get("SHELL", "/bin/sh")]
    try:
        become(state, state.host(host), words)
    except OSError as error:
        raise LabError(f"{shell_line(words)}: {error.strerror}") from None
