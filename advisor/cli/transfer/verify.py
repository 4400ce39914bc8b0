"""`advisor verify`: whether what arrived is what was sent."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from advisor.agent.client import PeerError
from advisor.agent.secret import BadSecret
from advisor.cli.advise.sessions import on_lab
from advisor.cli.connection import reach_fields, reach_options, with_those_of_the_host
from advisor.domain.quantities import format_bytes
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PEER
from advisor.runtime.request import AdviceRequest
from advisor.transfer.verifying import CopyComparison, CopyProgress, Difference, NothingThere, Seen
from advisor.transfer.verifying import verify as compared

_NAMED: Final = 10


@click.command()
@reach_options
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    help="What was moved: a file, a directory.",
)
@click.option("--to", "to", help="Where it went on the destination.")
@click.option("--sizes-only", is_flag=True, help="Compare sizes, do not read the files.")
@click.option("--json", "as_json", is_flag=True, help="The result as a line of JSON.")
@click.pass_context
def verify(context: click.Context, /, **options: Any) -> int:
    """Compare every file of --data with the one at DESTINATION, by its SHA-256.

    Both sides read their own files. The exit code is 0 only where all are the same. Files that are
    at the destination alone do not matter.
    """
    options = with_those_of_the_host(context, options)
    if not options["to"]:
        raise click.UsageError("--to is missing: say where the files went on the destination")
    request = on_lab(AdviceRequest(**reach_fields(options)))
    with _bar(shown=sys.stderr.isatty() and not options["as_json"]) as seen:
        comparison = _compared(request, options, seen)
    if isinstance(comparison, int):
        return comparison
    click.echo(_as_json(comparison) if options["as_json"] else sentence(comparison))
    return EXIT_DONE if comparison.identical else EXIT_FAILED


def _compared(request: AdviceRequest, options: dict[str, Any], seen: Seen) -> CopyComparison | int:
    """The comparison, or the exit code after what was in its way is told."""
    data, to, sizes_only = options["data"], options["to"], options["sizes_only"]

    async def comparing() -> CopyComparison:
        task = asyncio.create_task(compared(request, data, to, seen, sizes_only=sizes_only))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        return await task

    try:
        return asyncio.run(comparing())
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    except PeerError as error:
        click.echo(f"advisor: {error}", err=True)
        return EXIT_PEER
    except BadSecret as error:
        raise click.UsageError(f"--secret-file {request.secret_file} {error}") from None
    except NothingThere as error:
        raise click.UsageError(f"--data {error}: name what was moved") from None
    except OSError as error:
        raise click.UsageError(f"--data {data}: {error.strerror or error}") from None


@contextlib.contextmanager
def _bar(*, shown: bool) -> Iterator[Seen]:
    """What to tell of the bytes read: a bar with the time left, where it is shown."""
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with Bar(
        TextColumn("{task.description}"),
        *columns,
        console=Console(file=sys.stderr, highlight=False),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        task = bar.add_task("comparing", total=None)

        def seen(progress: CopyProgress) -> None:
            bar.update(task, completed=progress.read_bytes, total=progress.total_bytes)

        yield seen


def sentence(comparison: CopyComparison) -> str:
    """The result, with the first ten files that differ and the first ten that are uncertain."""
    differences = comparison.differences
    count = f"{_number(comparison.files)} {'file' if comparison.files == 1 else 'files'}"
    if comparison.identical:
        size = format_bytes(comparison.total_bytes)
        if comparison.sizes_only:
            return f"{count}, {size}: all sizes are the same (contents were not compared)"
        return f"{count}, {size}: all the same"
    different = [one for one in differences if one.is_certain]
    unknown = [one for one in differences if not one.is_certain]
    parts = []
    if different:
        verb = "differs" if len(different) == 1 else "differ"
        parts.append(f"{_number(len(different))} of {count} {verb}: {_named(different)}")
    if unknown:
        could = f"{_number(len(unknown))} of {count} could not be compared"
        parts.append(f"{could}: {_named(unknown)}")
    return "; ".join(parts)


def _number(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def _named(differences: Sequence[Difference]) -> str:
    named = [f"{_shown(one.name)} {_what(one)}" for one in differences[:_NAMED]]
    if len(differences) > _NAMED:
        named.append(f"and {_number(len(differences) - _NAMED)} more")
    return ", ".join(named)


def _shown(name: str) -> str:
    """A name that leaves the sentence in one line, and can be told from its words."""
    if not name:
        return "it"
    return name if name.isprintable() and " " not in name else repr(name)


_WHAT: Final[dict[str, Callable[[Difference], str]]] = {
    "missing": lambda _: "is missing there",
    "size": lambda one: f"has {one.here_bytes} bytes here and {one.there_bytes} there",
    "checksum": lambda _: "has another checksum there",
    "changed": lambda _: "changed here meanwhile",
    "unreadable": lambda one: f"cannot be read on the {one.side} ({one.reason})",
    "name": lambda _: "has a name that is not UTF-8",
}


def _what(difference: Difference) -> str:
    return _WHAT[difference.kind](difference)


def _as_json(comparison: CopyComparison) -> str:
    fields = {"identical": comparison.identical, **msgspec.to_builtins(comparison)}
    return msgspec.json.encode(fields).decode()
