"""The `--store` option and the pair argument, which several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from advisor.cli.config import configuration
from advisor.cli.parameters import Parsed
from advisor.domain.endpoints import Pair
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles

_Command = TypeVar("_Command", bound=Callable[..., Any])

PAIR: Final = Parsed("'SOURCE->DESTINATION'", Pair.parse)


def store_option(command: _Command) -> _Command:
    """`--store DIR`, handed to the command as `store`; without it, `configured_store()`.

    A subcommand without the option has the store of its group.
    """
    return click.option(
        "--store",
        "store",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        callback=_opened,
        help="Folder of the history.  [default: as configured, else in your data folder]",
    )(command)


def _opened(context: click.Context, _: click.Parameter, directory: Path | None) -> Store:
    if directory is not None:
        return Store(directory, shipped_profiles())
    return context.find_object(Store) or configured_store()


def configured_store() -> Store:
    """The history that the configuration names, else the one in the user's data folder.

    Raises BadConfiguration.
    """
    folder, references = configuration.store_folder(), shipped_profiles()
    return Store.default(references) if folder is None else Store(folder, references)
