"""The `--store` option and the pair argument, which several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from advisor.cli.parameters import Parsed
from advisor.domain.endpoints import Pair
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles

_Command = TypeVar("_Command", bound=Callable[..., Any])

PAIR: Final = Parsed("'SOURCE->DESTINATION'", Pair.parse)


def store_option(command: _Command) -> _Command:
    """`--store DIR`, handed to the command as `store`: a Store, the user's own without the option.

    A subcommand without the option has the store of its group.
    """
    return click.option(
        "--store",
        "store",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        callback=_opened,
        help="Directory of the history.  [default: in the user's data folder]",
    )(command)


def _opened(context: click.Context, _: click.Parameter, directory: Path | None) -> Store:
    if directory is not None:
        return Store(directory, shipped_profiles())
    return context.find_object(Store) or Store.default(shipped_profiles())
