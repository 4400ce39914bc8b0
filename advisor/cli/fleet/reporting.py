"""`advisor fleet report`: a fleet as one HTML file."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.fleet.database import database
from advisor.cli.options import StoreOption
from advisor.fleet.plan.fleet import DAY_S
from advisor.report.fleet import bytes_words
from advisor.report.output import say, transient_bar
from advisor.store.files import replace_file, write_new

_READER: Final = "advisor_reader"
_FILE: Final = Path("fleet.html")


@command()
def report(
    store: StoreOption,
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write, by default fleet.html.")
    ] = _FILE,
    since_s: Annotated[
        float,
        typer.Option(
            "--since",
            **p.DURATION,
            show_default="365d",
            help="How far back curves and changes reach, as in 90d.",
        ),
    ] = 365 * DAY_S,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace FILE if it is there.")
    ] = False,
) -> int:
    """Write a report on the fleet: one HTML file, to be opened without a network.

    The matrix of all pairs, each pair's curve, what changed and what may explain it, what limits
    each pair, and which pairs are not covered and why. A file that is there stays as it is.
    """
    if not overwrite and file.exists():
        raise _is_there(file)
    with database(store, _READER) as connection:
        from advisor.fleet.state import reading
        from advisor.fleet.state.courses import courses_of
        from advisor.fleet.state.standing import pairs_of, standing_of

        state = reading.fleet_state(connection)
        workers = reading.workers(connection, state.now_s)
        pairs = list(pairs_of(state))
        began_s = max(0.0, state.now_s - since_s)
        with _progress(sum(one.last_s is not None for one in pairs)) as seen:
            courses = courses_of(connection, pairs, began_s, seen)
    from advisor.report.fleet_page.page import report_page

    standing = standing_of(state, workers, pairs)
    page = report_page(state.applied.fleet, standing, courses, began_s).encode()
    _write(file, page, overwrite)
    say(f"{file}: {standing.pairs:,} pairs, {bytes_words(len(page))}")
    return 0


def _is_there(file: Path) -> UsageError:
    return UsageError(f"{file} is there already", remedy="give --overwrite, or name another file")


def _write(file: Path, page: bytes, overwrite: bool) -> None:
    try:
        if overwrite:
            replace_file(file, page, public=True)
        else:
            write_new(file, page)
    except FileExistsError:
        raise _is_there(file) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandFailed(
            f"cannot write '{file}': {reason}", remedy="name another file"
        ) from error


@contextlib.contextmanager
def _progress(pairs: int) -> Iterator[Callable[[int], object]]:
    """A bar on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with transient_bar(sys.stderr) as bar:
        task = bar.add_task("", total=pairs)
        yield lambda number: bar.update(task, completed=number)
