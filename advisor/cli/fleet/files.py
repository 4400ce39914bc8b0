"""`fleet.toml` as an argument."""

from pathlib import Path
from typing import Annotated, Final

import typer

from advisor.cli.errors import UsageError
from advisor.fleet.configuration.reading import BadFleet
from advisor.fleet.plan.fleet import Fleet

DEFAULT: Final = Path("fleet.toml")

FleetArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The description of the fleet, by default fleet.toml."),
]


def loaded(path: Path) -> Fleet:
    """The fleet of a file; what is wrong with it ends the command with its sentence."""
    from advisor.fleet.configuration.resolving import load

    try:
        return load(path)
    except BadFleet as error:
        raise UsageError.about(str(path), error) from None
