"""`advisor verify`: compares a copy with its source."""

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from advisor.agent.peer_errors import PeerError
from advisor.agent.secret import BadSecret
from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.connection import ReachOptions, destination_argument
from advisor.cli.errors import UsageError
from advisor.cli.lab_source import on_lab
from advisor.cli.options import DATA, FILES, ResultAsJson, ToOption
from advisor.domain.endpoints import Endpoint
from advisor.domain.printable import json_text
from advisor.domain.quantities import format_bytes
from advisor.report.output import say, transient_bar
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PEER
from advisor.runtime.request import AdviceRequest
from advisor.transfer.receipts import BadReceipt, read_receipt, verify_copy
from advisor.transfer.verifying import CopyComparison, CopyProgress, Difference, NothingThere, Seen
from advisor.transfer.verifying import verify as compared

_NAMED: Final = 10


def _destination(text: str) -> Endpoint | Path:
    path = Path(text)
    return path if path.suffix == ".json" or path.is_file() else Endpoint.parse(text)


@command()
def verify(
    reach: ReachOptions,
    *,
    destination: Annotated[
        Any,
        destination_argument(
            parser=p.parsed(_destination),
            help="[USER@]HOST, lab:NAME, or the receipt of a transfer.",
        ),
    ] = None,
    data: Annotated[Path | None, DATA] = None,
    to: ToOption = None,
    sizes_only: Annotated[
        bool,
        typer.Option(
            "--sizes-only",
            help="Compare sizes; do not read the files.",
            rich_help_panel=FILES,
        ),
    ] = False,
    as_json: ResultAsJson = False,
) -> int:
    """Compare every file of --data with the one at DESTINATION, by its SHA-256.

    \b
    advisor verify dtn02 --data /data/run42 --to /store/run42
    advisor verify receipt.json

    Both hosts read their own files. The exit code is 0 only if all are the same. Files that are
    only at the destination do not matter. With a receipt the source is not needed: the copy is
    compared with the checksums that were signed when it was moved.
    """
    shown = sys.stderr.isatty() and not as_json
    if isinstance(destination, Path):
        if data or sizes_only:
            raise UsageError("a receipt says what was moved", remedy="leave out the other options")
        outcome, signed = _with_receipt(reach, destination, to, shown=shown)
    else:
        if not data or not to:
            raise UsageError(
                f"{'--to' if data else '--data'} is missing",
                remedy="say what was moved, and where it went, or name the receipt",
            )
        request = on_lab(AdviceRequest(**reach.request_fields(destination)))
        with _bar(shown=shown) as seen:
            outcome = _run(
                compared(request, data, to, seen, sizes_only=sizes_only), f"--data {data}"
            )
        signed = ""
    if isinstance(outcome, int):
        return outcome
    say(_as_json(outcome) if as_json else f"{sentence(outcome)}{signed}")
    return EXIT_DONE if outcome.identical else EXIT_FAILED


def _with_receipt(
    reach: ReachOptions, path: Path, to: str | None, *, shown: bool
) -> tuple[CopyComparison | int, str]:
    """The comparison with a receipt, or the exit code; and who signed it. Raises UsageError."""
    try:
        receipt, statement = read_receipt(path)
        endpoint = Endpoint.parse(receipt.destination)
    except BadReceipt as error:
        raise UsageError.about("", error) from None
    except (OSError, ValueError) as error:
        raise UsageError.about(str(path), error) from None
    request = on_lab(AdviceRequest(**reach.request_fields(endpoint)))
    with _bar(shown=shown) as seen:
        outcome = _run(
            verify_copy(request, receipt, statement, to or statement.target, seen), str(path)
        )
    moved = time.strftime("%Y-%m-%d", time.gmtime(statement.made_s))
    key = receipt.public_key[:16]
    return outcome, f"; signed on {statement.host} on {moved} with the key {key}…"


def _run(work: Coroutine[Any, Any, CopyComparison], what: str) -> CopyComparison | int:
    """The comparison, or the exit code after an error, which is printed.

    `what`: what is compared, for errors.
    """

    async def comparing() -> CopyComparison:
        task = asyncio.create_task(work)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        return await task

    try:
        return asyncio.run(comparing())
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    except PeerError as error:
        say(f"advisor: {error}", err=True)
        return EXIT_PEER
    except BadSecret as error:
        raise UsageError.about("", error) from None
    except NothingThere as error:
        raise UsageError(f"--data {error}", remedy="name what was moved") from None
    except OSError as error:
        raise UsageError(f"{what}: {error.strerror or error}") from None


@contextlib.contextmanager
def _bar(*, shown: bool) -> Iterator[Seen]:
    """A function to call with the progress; it draws a bar with the time left, if `shown`."""
    if not shown:
        yield lambda _: None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with transient_bar(
        sys.stderr,
        TextColumn("{task.description}", markup=False),
        *columns,
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
    """The name as one line, quoted if it could be mistaken for words of the sentence."""
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
    return json_text(msgspec.json.encode(fields))
