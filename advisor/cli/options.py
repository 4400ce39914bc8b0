"""Options that several commands have."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import is_typed
from advisor.cli.config import configuration
from advisor.cli.errors import CommandFailed, UsageError
from advisor.domain.endpoints import Pair
from advisor.report import ndjson
from advisor.report.output import say
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles
from advisor.store.opening import open_backend, require_history
from advisor.store.passing_on import PASSED_ON, PassingOn

CONNECTION: Final = "Connection"
SEARCH: Final = "Search"
FILES: Final = "Files"
LIMITS: Final = "Limits"
OUTPUT: Final = "Output and history"

PAIR: Final[Any] = {"parser": p.parsed(Pair.parse), "metavar": "'SOURCE->DESTINATION'"}


def _opened(context: typer.Context, given: str | Store | None) -> Store:
    if not isinstance(given, str) and (of_group := context.find_object(Store)):
        return of_group
    store = _open(given, "--store") if isinstance(given, str) else configured_store()
    if not context.resilient_parsing:
        context.call_on_close(lambda: tell_notices(store.notices))
    return store


def _opened_to_read(context: typer.Context, given: str | Store | None) -> Store:
    store = _opened(context, given)
    group: Any = context.parent
    if isinstance(given, str) or (group and group.find_object(Store) and is_typed(group, "store")):
        require_stored(store)
    return store


def require_stored(store: Store) -> None:
    """Raises CommandFailed if a folder is named as the history, and there is none."""
    try:
        require_history(store.argument)
    except StoreError as error:
        raise CommandFailed.about("", error) from None


def _open(text: str, what: str) -> Store:
    if text == PASSED_ON:
        return Store(PassingOn(ndjson.record_writer(sys.stdout)), shipped_profiles())
    try:
        return Store(open_backend(text), shipped_profiles())
    except StoreError as error:
        raise UsageError.about(what, error) from None


def tell_notices(notices: Iterable[str]) -> None:
    """Print what a history says of itself, on standard error."""
    for notice in notices:
        say(f"advisor: {notice}", err=True)


def _unset() -> None:
    return None


def _store_option(opened: Callable[[typer.Context, str | Store | None], Store]) -> Any:
    return typer.Option(
        "--store",
        parser=str,
        default_factory=_unset,
        callback=opened,
        metavar="DIR",
        show_default="as configured, else in your data folder",
        help="Folder of the history of measurements, or postgresql://HOST/DATABASE; with - nothing "
        "is kept, and records are printed as lines of JSON.",
        rich_help_panel=OUTPUT,
    )


StoreOption = Annotated[Store, _store_option(_opened)]
"""`--store DIR`; without it the store of the group, else `configured_store()`."""

StoredOption = Annotated[Store, _store_option(_opened_to_read)]
"""`--store DIR` of a command that only reads or marks what is stored: DIR has to exist."""


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
        **p.TARGET_PATH,
        help="Absolute path of the files at the destination.",
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
        help="The destination's server for the tool, as in gsiftp://HOST:2811 or "
        "sftp://USER@HOST:22; for a tool that fetches, the URL of the server on this "
        "host.",
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
        help=f"Most concurrent files, or ranges of large files{note}.",
        rich_help_panel=panel,
        **settings,
    )


def configured_store() -> Store:
    """The history that the configuration names, else the one in the user's data folder.

    Raises BadConfiguration, UsageError.
    """
    place = configuration.load().store
    if place is None:
        return Store.default(shipped_profiles())
    return _open(place, f"{configuration.path()}: store")


def _no_file_for_dash(path: Path | None) -> Path | None:
    return None if path == Path("-") else path


OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FILE",
        callback=_no_file_for_dash,
        help="Write to this file, not to stdout (-).",
    ),
]
