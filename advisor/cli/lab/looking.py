"""`advisor lab status`, `check` and `paths`: the labs, their paths, and a check of a path."""

from typing import Annotated

import msgspec
import typer

from advisor.cli.commands import command
from advisor.cli.lab.options import (
    NAME,
    HostOption,
    NameArgument,
    StatusAsJson,
)
from advisor.cli.lab.orders import lab_errors, order_lab
from advisor.cli.options import ResultAsJson
from advisor.domain.printable import json_text
from advisor.lab import catalogue
from advisor.lab.messages import GetStatus
from advisor.report.output import say, say_json


@command()
@lab_errors
def status(
    name: Annotated[
        str | None, typer.Argument(**NAME, help="The name of the lab; without it, every lab.")
    ] = None,
    *,
    as_json: StatusAsJson = False,
) -> int:
    """Show hosts, paths and traffic counters; without NAME, of every lab."""
    from advisor.lab.state import labs

    if name is not None:
        return order_lab(name, GetStatus(), as_json)
    found = labs()
    for place in found:
        if place.is_up:
            order_lab(place.name, GetStatus(), as_json)
        elif not as_json:
            why = place.last_words() or "its supervisor has ended"
            say(f"{place.name}: ended ({why}): 'advisor lab down {place.name}' removes the rest")
    if not found and not as_json:
        say("no lab is up: 'advisor lab up wan' creates one")
    return 0


@command()
@lab_errors
def files(name: NameArgument, *, host: HostOption = None) -> int:
    """Print the folder of a host's GridFTP server: what is below it can be written by transfers.

    \b
    advisor transfer DATA lab:wan --to "$(advisor lab files wan)/copy"
    """
    from advisor.lab.state import LabError, LabFolder, state_of

    far = state_of(name).far(host)
    if far.gridftp_url is None:
        raise LabError(f"no GridFTP server runs on {far.name}: is globus-gridftp-server installed?")
    say(str(LabFolder(name).files(far.name)))
    return 0


@command()
@lab_errors
def check(name: NameArgument, *, host: HostOption = None, as_json: ResultAsJson = False) -> int:
    """Measure the path and compare it with its definition: RTT, rate and loss, both ways.

    Takes about 15 seconds; nothing else may use the path. Exits with 0 if the path matches its
    definition, with 1 if it does not or this machine is too slow for it.
    """
    from advisor.lab import checking
    from advisor.report.lab_check import check_text, progress

    with progress() as narrate:
        found = checking.check_lab_path(name, host, narrate)
    say(json_text(msgspec.json.encode(found)) if as_json else check_text(found))
    return 0 if found.is_as_asked else 1


@command()
@lab_errors
def paths(*, as_json: ResultAsJson = False) -> int:
    """List the named paths, and where to put your own."""
    found = {name: catalogue.find(name) for name in catalogue.names()}
    if as_json:
        say_json(msgspec.json.encode(found))
        return 0
    from advisor.cli.terminal import stdout_columns
    from advisor.report.lab import paths_text

    say(paths_text(found, stdout_columns()))
    say(f"\nYour own paths: one TOML file each in {catalogue.user_paths_folder()}")
    return 0
