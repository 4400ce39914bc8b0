"""`advisor history import` and `export`: the history from and to other programs' files."""

import gc
import gzip
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import msgspec
import typer

from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.lookup import resolve_pair, resolve_session, store_errors
from advisor.cli.options import OutputOption, StoredOption, StoreOption, json_option
from advisor.cli.parameters import parsed
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord, Record
from advisor.report.output import PrintableStream, say, say_json
from advisor.store.completeness import in_full
from advisor.store.exporters import (
    TextWriter,
    write_csv,
    write_jsonl,
    write_markdown,
    write_probdata,
    write_pscheduler,
)
from advisor.store.history import Store
from advisor.store.importers import BadEntry, read_files
from advisor.store.importers.refused import RefusedEntries
from advisor.store.remarks import OWN_ORIGIN, counting, session_of

_WRITERS: Final[dict[str, Callable[[Iterable[Record], TextWriter], int | None]]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "markdown": write_markdown,
    "prof": write_probdata,
    "pscheduler": write_pscheduler,
}
_FormatName = Literal["jsonl", "csv", "prof", "pscheduler", "markdown", "flent"]
_FLENT: Final = "flent"
_NOTHING_USABLE: Final = 1
_INTERRUPTED: Final = 130
# Records in a batch, which is stored with one sync for each pair.
_BATCH: Final = 20_000


@command("import")
def import_files(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="The files to read; gzip is unpacked.")
    ],
    *,
    store: StoreOption,
    pair: Annotated[
        Pair | None,
        typer.Option(
            "--pair",
            parser=parsed(Pair.parse),
            metavar="'A->B'",
            help="Where the data came from and went to, if the files do not name the hosts as you "
            "would.",
        ),
    ] = None,
    restore: Annotated[
        bool,
        typer.Option(
            "--restore",
            help="Take requests and command lines too, from exports of your own history only.",
        ),
    ] = False,
    as_json: Annotated[bool, json_option("End with one line of JSON.")] = False,
) -> None:
    """Import what advisor exported, or what other programs measured or logged; gzip is unpacked.

    FILE is a history or profile that was exported (jsonl, csv, sealed), a GridFTP server's transfer
    log (-log-transfer) or usage records, a CSV table of transfers as the HARP papers published
    them, a .PROF file of ProbData, or what `iperf3 -J` printed. The same measurement is never
    stored twice. What cannot be imported is reported on stderr.
    """
    done = _Imported()
    try:
        with _progress(files) as seen, _without_cycles():
            _import(read_files(files, pair, seen, restore=restore), store, done)
    except KeyboardInterrupt:
        done.interrupted = True
    # After the bar, which would be torn by lines between.
    for line in done.refused.lines():
        say(line, err=True)
    _tell_imported(done, as_json)
    if done.interrupted:
        say("advisor: interrupted: repeat the import for the rest", err=True)
        raise typer.Exit(_INTERRUPTED)
    if not done.records:
        raise typer.Exit(_NOTHING_USABLE)


class _Imported:
    """The progress of an import: the records that were read, and those that were new."""

    def __init__(self) -> None:
        self.records = 0
        self.new = 0
        self.refused = RefusedEntries()
        self.interrupted = False


def _import(
    entries: Iterable[tuple[Path, Record | BadEntry]], store: Store, done: _Imported
) -> None:
    """Store the records in batches that fit into memory, each batch as a whole or not at all."""
    batch: list[Record] = []

    def keep() -> None:
        foreign = [r for r in batch if isinstance(r, ProbeRecord) and r.origin != OWN_ORIGIN]
        own = [r for r in batch if not isinstance(r, ProbeRecord) or r.origin == OWN_ORIGIN]
        with store_errors():
            done.new += store.append_new(foreign) + store.append_missing(own)
        done.records += len(batch)
        batch.clear()

    for path, entry in entries:
        if isinstance(entry, BadEntry):
            done.refused.add(path, entry)
        else:
            batch.append(entry)
            if len(batch) == _BATCH:
                keep()
    keep()


@contextmanager
def _without_cycles() -> Iterator[None]:
    """Disable the collector of cyclic garbage: many records make it slow, and have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _progress(files: Sequence[Path]) -> Iterator[Callable[[int], None]]:
    """A function to call with the bytes read so far; shown on stderr if that is a terminal."""
    total = sum(map(_size_bytes, files))
    if not (total and sys.stderr.isatty()):
        yield lambda _: None
        return
    with typer.progressbar(length=total, label="Importing", file=sys.stderr) as bar:

        def seen(read_bytes: int) -> None:
            bar.update(read_bytes - bar.pos)

        yield seen


def _size_bytes(path: Path) -> int:
    """The size; 0 if it is not a regular file or cannot be examined: reading it reports why."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _tell_imported(done: _Imported, as_json: bool) -> None:
    refused, already_there = done.refused.total, done.records - done.new
    if as_json:
        totals: dict[str, object] = {"event": "import", "imported": done.new, "refused": refused}
        if already_there:
            totals["already_there"] = already_there
        if done.interrupted:
            totals["interrupted"] = True
        say_json(msgspec.json.encode(totals))
        return
    parts = [f"Imported {done.new}", f"refused {refused}"]
    if already_there:
        parts.append(f"{already_there} already stored")
    say(f"{', '.join(parts)}.")


@command()
def export(
    pair: Annotated[
        str | None,
        typer.Argument(
            metavar="PAIR",
            show_default="all pairs",
            help="'SOURCE->DESTINATION', or its destination alone.",
        ),
    ] = None,
    *,
    store: StoredOption,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="SESSION",
            help="Only this session, by its name or the beginning of it.",
        ),
    ] = None,
    format_name: Annotated[
        _FormatName,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"The format of the output: {', '.join(get_args(_FormatName))}.",
        ),
    ] = "jsonl",
    output: OutputOption = None,
) -> None:
    """Write the records of PAIR, or of all pairs.

    jsonl has everything, and can be imported again. CSV has the probes without loss, prof
    (ProbData's .PROF) what that format holds of TCP and UDT, pscheduler a line of JSON for each
    probe of TCP as pScheduler has its throughput results, Markdown rounded figures; all four
    without deleted sessions. flent is a data file for flent
    of one PAIR or --session, which needs --output FILE.flent.gz; outliers are left out of it.

    Exit code 1 if a database was not always reached: then some records may be missing.
    """
    if format_name == _FLENT and not (pair or session):
        raise UsageError("--format flent: name a PAIR or a --session: a file holds one test")
    if format_name == _FLENT and output is None:
        raise UsageError("--format flent: name the file with --output FILE.flent.gz")
    with store_errors(), in_full(store.kept, "the export"):
        pairs, wanted = _wanted(store, pair, session)
        records: Iterable[Record] = chain.from_iterable(store.records(each) for each in pairs)
        if wanted:
            records = (r for r in records if session_of(r) == wanted)
        if format_name == _FLENT and output is not None:
            _write_flent(output, list(records), wanted or str(pairs[0]))
        else:
            write_records(format_name, records, output)


def write_records(format_name: str, records: Iterable[Record], output: Path | None) -> None:
    """Write records to a file, or to standard output; say how many the format cannot hold."""
    write = _WRITERS[format_name]
    if output is None:
        left_out = write(records, PrintableStream(sys.stdout))
    else:
        left_out = _write_file(output, records, write)
    if left_out:
        say(f"advisor: left out {left_out} probes that this format cannot hold", err=True)


def _wanted(store: Store, pair: str | None, session: str | None) -> tuple[list[Pair], str | None]:
    """The pairs to write, and the one session of them, None for all."""
    named = resolve_pair(store, pair) if pair else None
    if session is None:
        return [named] if named else store.stored_pairs(), None
    found = resolve_session(store, session)
    if named not in (None, found.pair):
        raise UsageError(f"--session {session} belongs to {found.pair}, not to {named}")
    return [found.pair], found.session


def _write_flent(path: Path, records: list[Record], title: str) -> None:
    from advisor.store.flent import NoProbes, flent_data

    try:
        data = flent_data(counting(records), title)
    except NoProbes as error:
        raise CommandFailed.about("", error) from error
    with output_errors(path):
        path.write_bytes(gzip.compress(data, mtime=0))


def _write_file(
    path: Path,
    records: Iterable[Record],
    write: Callable[[Iterable[Record], TextWriter], int | None],
) -> int | None:
    with output_errors(path), path.open("w", encoding="utf-8", newline="") as stream:
        return write(records, stream)


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """A file that cannot be written ends the command with its sentence and exit code 1."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandFailed(
            f"--output: cannot write '{path}': {reason}", remedy="name another file"
        ) from error
