"""`advisor history import` and `export`: the history from and to other programs' files."""

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Final, TextIO

import click
import msgspec

from advisor.cli.options import PAIR, store_option
from advisor.cli.stored import resolve_pair, resolve_session, store_errors
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord, Record
from advisor.store.exporters import write_csv, write_jsonl, write_markdown
from advisor.store.history import Store
from advisor.store.importers import BadEntry, read_file
from advisor.store.remarks import counting, session_of

_WRITERS: Final[dict[str, Callable[[Iterable[Record], TextIO], None]]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "markdown": write_markdown,
}
_FLENT: Final = "flent"
_NOTHING_USABLE: Final = 1


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--pair",
    type=PAIR,
    metavar="'A->B'",
    help="Where the data came from and went to, when the files do not say it as you would.",
)
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON.")
@store_option
@click.pass_context
def import_files(
    context: click.Context,
    files: tuple[Path, ...],
    pair: Pair | None,
    as_json: bool,
    store: Store,
) -> None:
    """Take over measurements from ProbData's .PROF files and from what `iperf3 -J` printed.

    The same measurement is never stored twice. What cannot be taken is told on stderr.
    """
    probes: list[ProbeRecord] = []
    bad: list[tuple[Path, BadEntry]] = []
    with _progress(files) as bar:
        for path in bar:
            for entry in read_file(path, pair):
                if isinstance(entry, BadEntry):
                    bad.append((path, entry))
                else:
                    probes.append(entry)
    # After the bar, which would be torn by lines between.
    for path, entry in bad:
        place = f"{path}, {entry.place}" if entry.place else str(path)
        click.echo(f"{place}: {entry.why}", err=True)
    # All at once: one sync per pair, and its history is looked through once.
    with store_errors():
        imported = store.append_new(probes)
    _tell_imported(imported, len(probes) - imported, len(bad), as_json)
    if not probes:
        context.exit(_NOTHING_USABLE)


def _progress(files: tuple[Path, ...]) -> AbstractContextManager[Iterable[Path]]:
    """The files, with a bar on stderr where that is a terminal."""
    if sys.stderr.isatty():
        return click.progressbar(files, label="Importing", file=sys.stderr)
    return nullcontext(files)


def _tell_imported(imported: int, already_there: int, refused: int, as_json: bool) -> None:
    if as_json:
        totals = {"event": "import", "imported": imported, "refused": refused}
        if already_there:
            totals["already_there"] = already_there
        click.echo(msgspec.json.encode(totals))
        return
    parts = [f"Imported {imported}", f"refused {refused}"]
    if already_there:
        parts.append(f"{already_there} already there")
    click.echo(f"{', '.join(parts)}.")


@click.command()
@click.argument("pair", required=False)
@click.option("--session", metavar="SESSION", help="Only this one; its beginning is enough.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice([*_WRITERS, _FLENT]),
    default="jsonl",
    show_default=True,
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write there, not to stdout."
)
@store_option
def export(
    pair: str | None,
    session: str | None,
    format_name: str,
    output: Path | None,
    store: Store,
) -> None:
    """Write the records of PAIR, or of all pairs.

    CSV and Markdown have the probes only, without deleted sessions. flent is a data file for flent
    of one PAIR or --session, which needs --output FILE.flent.gz; outliers are left out of it.
    """
    if format_name == _FLENT and not (pair or session):
        raise click.UsageError("--format flent: name a PAIR or a --session: a file holds one test")
    if format_name == _FLENT and output is None:
        raise click.UsageError("--format flent: say where to with --output FILE.flent.gz")
    with store_errors():
        pairs, wanted = _wanted(store, pair, session)
        records: Iterable[Record] = chain.from_iterable(store.records(each) for each in pairs)
        if wanted:
            records = (r for r in records if session_of(r) == wanted)
        if format_name == _FLENT and output is not None:
            _write_flent(output, list(records), wanted or str(pairs[0]))
        elif output is None:
            _WRITERS[format_name](records, sys.stdout)
        else:
            _write_file(output, records, _WRITERS[format_name])


def _wanted(store: Store, pair: str | None, session: str | None) -> tuple[list[Pair], str | None]:
    """The pairs to write, and the one session of them, None for all."""
    named = resolve_pair(store, pair) if pair else None
    if session is None:
        everything = store.pairs(include_deleted=True)
        return [named] if named else [summary.pair for summary in everything], None
    found = resolve_session(store, session)
    if named not in (None, found.pair):
        raise click.UsageError(f"--session {session}: it is of {found.pair}, not of {named}")
    return [found.pair], found.session


def _write_flent(path: Path, records: list[Record], title: str) -> None:
    from advisor.store.flent import NoProbes, flent_data

    try:
        data = flent_data(counting(records), title)
    except NoProbes as error:
        raise click.ClickException(str(error)) from error
    with _output_errors(path):
        path.write_bytes(gzip.compress(data, mtime=0))


def _write_file(
    path: Path, records: Iterable[Record], write: Callable[[Iterable[Record], TextIO], None]
) -> None:
    with _output_errors(path), path.open("w", encoding="utf-8", newline="") as stream:
        write(records, stream)


@contextmanager
def _output_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise click.ClickException(
            f"--output: cannot write '{path}': {reason}; name another file"
        ) from error
