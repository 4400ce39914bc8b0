"""`advisor fleet init` and `validate`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.fleet.files import DEFAULT, FleetArgument, loaded
from advisor.cli.options import ResultAsJson
from advisor.fleet.configuration.example import EXAMPLE
from advisor.report.output import say, say_json


@command()
def init(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file to write, by default fleet.toml."),
    ] = DEFAULT,
) -> int:
    """Write a commented example of a fleet's description. A file that is there stays as it is."""
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(EXAMPLE)
    except FileExistsError:
        raise UsageError(f"{file} is there already", remedy="edit it, or move it away") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{file}: {reason}", remedy="name another file") from None
    say(str(file))
    return 0


@command()
def validate(file: FleetArgument = DEFAULT, *, as_json: ResultAsJson = False) -> int:
    """Check the description of a fleet, and say what would be measured.

    Nothing is connected to or measured. Traffic is the most that there can be: each measurement
    sends for its whole budget at the rate of the slower link.
    """
    fleet = loaded(file)
    from advisor.fleet.plan.coverage import coverage_of
    from advisor.report.fleet import coverage_data, print_coverage

    found = coverage_of(fleet)
    if as_json:
        say_json(msgspec.json.encode(coverage_data(found)))
    else:
        print_coverage(fleet, found)
    return 0
