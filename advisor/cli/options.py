"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from advisor.cli import parameters as p
from advisor.cli.config import configuration
from advisor.domain.endpoints import Pair
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles

CONNECTION: Final = "Connection"
SEARCH: Final = "Search"
FILES: Final = "Files"
LIMITS: Final = "Limits"
OUTPUT: Final = "Output and history"

PAIR: Final[Any] = {"parser": p.parsed(Pair.parse), "metavar": "'SOURCE->DESTINATION'"}


def _opened(context: typer.Context, directory: Path | Store | None) -> Store:
    if isinstance(directory, Path):
        return Store(directory, shipped_profiles())
    return context.find_object(Store) or configured_store()


def _folder(text: str) -> Path:
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise ValueError("it is a file: name a folder")
    return folder


def _unset() -> None:
    return None


StoreOption = Annotated[
    Store,
    typer.Option(
        "--store",
        parser=p.parsed(_folder),
        default_factory=_unset,
        callback=_opened,
        metavar="DIR",
        show_default="as configured, else in your data folder",
        help="Folder of the history of measurements.",
        rich_help_panel=OUTPUT,
    ),
]
"""`--store DIR`; without it the store of the group, else `configured_store()`."""


def json_option(help_text: str) -> Any:
    """`--json`, with what it prints."""
    return typer.Option("--json", help=help_text, rich_help_panel=OUTPUT)


EventsAsJson = Annotated[
    bool, json_option("Print each event of the session as a line of JSON, instead of text.")
]
ResultAsJson = Annotated[bool, json_option("Print the result as JSON, instead of text.")]
OrdersOption = Annotated[
    bool,
    typer.Option(
        "--orders",
        help="Read orders (stop, retry, …) from standard input, as lines of JSON.",
        rich_help_panel=OUTPUT,
    ),
]


ToOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="PATH",
        help="Path of the files at the destination.",
        rich_help_panel=FILES,
    ),
]
DATA: Final[Any] = typer.Option(
    "--data",
    exists=True,
    help="The data on this host: a file or a folder.",
    rich_help_panel=FILES,
)
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="The destination's GridFTP server, as in gsiftp://HOST:2811.",
        rich_help_panel=FILES,
    ),
]


def seed_option(**settings: Any) -> Any:
    """`--seed`, for what chooses at random and can be repeated."""
    return p.whole(
        "--seed",
        low=0,
        high=2**32 - 1,
        help="Seed of the random numbers: the same seed repeats the same choices.",
        rich_help_panel=SEARCH,
        **settings,
    )


def max_concurrency_option(*, note: str = "", panel: str = LIMITS, **settings: Any) -> Any:
    """`--max-concurrency`; `note`: what else it means for this command."""
    return p.whole(
        "--max-concurrency",
        low=1,
        high=128,
        help=f"Most files, or ranges of large files, at the same time{note}.",
        rich_help_panel=panel,
        **settings,
    )


def configured_store() -> Store:
    """The history that the configuration names, else the one in the user's data folder.

    Raises BadConfiguration.
    """
    folder, references = configuration.store_folder(), shipped_profiles()
    return Store.default(references) if folder is None else Store(folder, references)
