"""`fleet.toml` as an argument."""

from pathlib import Path
from typing import Annotated, Final

import typer

from advisor.cli.errors import UsageError
from advisor.fleet.configuration.reading import BadFleet, decoded, read_file
from advisor.fleet.plan.fleet import Fleet

DEFAULT: Final = Path("fleet.toml")

FleetArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The description of the fleet, by default fleet.toml."),
]


def loaded(path: Path) -> Fleet:
    """The fleet of a file; what is wrong with it ends the command with its sentence."""
    return with_text(path)[0]


def with_text(path: Path) -> tuple[Fleet, str]:
    """As `loaded`, and the text that it was read from."""
    from advisor.fleet.configuration.checking import checked

    try:
        data = read_file(path)
        return checked(decoded(data)), data.decode()
    except BadFleet as error:
        raise UsageError.about(str(path), error) from None
