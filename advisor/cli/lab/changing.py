"""`advisor lab set`, `cut`, `restore`, `load` and `schedule`: change a lab that is up."""

from pathlib import Path
from typing import Annotated

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.lab.options import (
    HostOption,
    NameArgument,
    PathOptions,
    StatusAsJson,
    changes_of,
)
from advisor.cli.lab.orders import lab_errors, order_lab, steps_of
from advisor.lab.messages import Cut, Play, SetLoad, SetPath


@command("set")
@lab_errors
def set_(
    name: NameArgument,
    path: PathOptions,
    *,
    host: HostOption = None,
    forward: Annotated[
        bool, typer.Option("--forward", help="Only the direction from the source.")
    ] = False,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Only the direction to the source.")
    ] = False,
    as_json: StatusAsJson = False,
) -> int:
    """Change the path while the lab is in use."""
    changes = changes_of(path)
    if not changes.said:
        raise UsageError("nothing to change", remedy="give --rtt, --rate, --loss, …")
    which = None if forward == reverse else "forward" if forward else "reverse"
    return order_lab(name, SetPath(changes=changes, host=host, which=which), as_json)


@command()
@lab_errors
def cut(name: NameArgument, *, host: HostOption = None, as_json: StatusAsJson = False) -> int:
    """Cut the path: drop all packets in both directions."""
    return order_lab(name, Cut(is_cut=True, host=host), as_json)


@command()
@lab_errors
def restore(name: NameArgument, *, host: HostOption = None, as_json: StatusAsJson = False) -> int:
    """Restore a path that was cut."""
    return order_lab(name, Cut(is_cut=False, host=host), as_json)


@command()
@lab_errors
def load(
    name: NameArgument,
    *,
    transfers: Annotated[
        int | None,
        p.whole(
            "--transfers",
            low=0,
            high=128,
            help="Parallel TCP streams that fill the path (ext.tfr in the papers).",
        ),
    ] = None,
    compute: Annotated[
        int | None,
        p.whole(
            "--compute",
            low=0,
            high=256,
            help="Matrix products that keep the cores busy (ext.cmp in the papers).",
        ),
    ] = None,
    host: HostOption = None,
    as_json: StatusAsJson = False,
) -> int:
    """Set the external load on the path and this machine; 0 removes it.

    Computing loads this whole machine: the hosts of a lab share its cores.
    """
    if transfers is None and compute is None:
        raise UsageError("give --transfers, --compute or both")
    return order_lab(name, SetLoad(transfers=transfers, compute=compute, host=host), as_json)


@command()
@lab_errors
def schedule(
    name: NameArgument,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="The file, with a line for each change.",
        ),
    ] = None,
    *,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the running schedule.")] = False,
    as_json: StatusAsJson = False,
) -> int:
    """Run the timed changes in FILE, starting now.

    \b
    at 60s: transfers 64
    at 90s: loss 1%, rate 500Mbit
    at 120s: cut
    at 125s: restore
    """
    if stop == (file is not None):
        raise UsageError("give either FILE or --stop")
    return order_lab(name, Play(steps=steps_of(file)), as_json)
