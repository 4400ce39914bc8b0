"""`advisor history`: what is stored of earlier probes and advice."""

import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, Final, TextIO

import click
import msgspec

from advisor.cli.options import PAIR, store_option
from advisor.domain.endpoints import Pair
from advisor.domain.events import PastResult
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.records import AdviceRecord, ProbeRecord, Record, SessionRecord
from advisor.domain.space import setting_words
from advisor.store.errors import StoreError
from advisor.store.exporters import (
    utc_text,
    write_csv,
    write_jsonl,
    write_markdown,
)
from advisor.store.history import PairSummary, Store
from advisor.store.importers import BadEntry, read_file

_WRITERS: Final[dict[str, Callable[[Iterable[Record], TextIO], None]]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "markdown": write_markdown,
}
_NOTHING_USABLE: Final = 1


@contextmanager
def _store_errors() -> Iterator[None]:
    """A store that fails ends the command with its sentence and exit code 1."""
    try:
        yield
    except StoreError as error:
        raise click.ClickException(str(error)) from error


def _format_options(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def _one_format(as_json: bool, as_csv: bool) -> None:
    if as_json and as_csv:
        raise click.UsageError("--csv: it cannot be given together with --json: choose one of them")


@click.group(invoke_without_command=True)
@store_option
@_format_options
@click.pass_context
def history(context: click.Context, store: Store, as_json: bool, as_csv: bool) -> None:
    """List the pairs that were measured, and look into them."""
    context.obj = store
    if context.invoked_subcommand is not None:
        if as_json or as_csv:
            given = "--json" if as_json else "--csv"
            raise click.UsageError(f"{given}: write it after '{context.invoked_subcommand}'")
        return
    _one_format(as_json, as_csv)
    with _store_errors():
        summaries = store.pairs()
    if as_json:
        click.echo(msgspec.json.encode(summaries))
    elif as_csv:
        _list_csv(summaries)
    elif summaries:
        _table(_LIST_COLUMNS, [_list_cells(s) for s in summaries])
    else:
        click.echo("Nothing is stored yet: measure with `advisor advise`.", err=True)


_LIST_COLUMNS: Final = ("pair", "best", "records", "last used", "advice")


def _list_cells(summary: PairSummary) -> list[str]:
    best = max(summary.best, key=lambda r: r.throughput_bps, default=None)
    advice = summary.last_advice
    return [
        str(summary.pair),
        f"{best.transport} {format_rate(best.throughput_bps)}" if best else "none",
        str(summary.records),
        utc_text(summary.last_recorded_s),
        f"{advice.advice.transport} {format_rate(advice.advice.expected_bps)}"
        if advice
        else "none",
    ]


def _list_csv(summaries: Iterable[PairSummary]) -> None:
    """One row per pair and transport; pairs without a measurement have one row without a best."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("source", "destination", "records", "last_recorded_utc", *_BEST_COLUMNS_CSV))
    for summary in summaries:
        pair, last = summary.pair, utc_text(summary.last_recorded_s)
        head = [pair.source, pair.destination, summary.records, last]
        rows = [_best_columns(best) for best in summary.best] or [[None] * len(_BEST_COLUMNS_CSV)]
        writer.writerows(head + row for row in rows)


_BEST_COLUMNS_CSV: Final = (
    "transport",
    "throughput_bps",
    "spread",
    "probes",
    "age_s",
    "setting_json",
    "caution",
)


def _best_columns(best: PastResult) -> list[object]:
    setting = msgspec.json.encode(best.setting, order="sorted").decode()
    figures = [best.throughput_bps, best.spread, best.probes, best.age_s]
    return [best.transport, *figures, setting, best.caution]


@history.command()
@click.argument("pair")
@store_option
@_format_options
def show(pair: str, store: Store, as_json: bool, as_csv: bool) -> None:
    """Show what is known of PAIR: 'SOURCE->DESTINATION', or its destination alone."""
    _one_format(as_json, as_csv)
    with _store_errors():
        found = _resolve(store, pair)
        best, records = store.best(found, time.time()), store.records(found)
    if as_json:
        click.echo(_show_json(found, best, records))
    elif as_csv:
        write_csv(records, sys.stdout)
    else:
        _show_text(found, best, records)


@history.command()
@click.argument("pair")
@click.option("--session", help="Which one, as 'show' and the advice name it.  [the last]")
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True, max=1000),
    help="Times the pace it had, as in 1 or 10.  [at once]",
)
@store_option
def replay(pair: str, session: str | None, speed: float | None, store: Store) -> None:
    """Show a past session of PAIR again as it was: its probes, moves and advice."""
    from advisor.cli.replay import replay_session

    with _store_errors():
        found = _resolve(store, pair)
        known = [r.session for r in store.records(found) if isinstance(r, SessionRecord)]
        if session is not None and session not in known:
            raise click.UsageError(f"--session {session}: {found} has {', '.join(known) or 'none'}")
        wanted = session or (known[-1] if known else "")
        events = store.events(found, wanted) if wanted else []
    if not events:
        raise click.ClickException(f"no events were kept of {wanted or 'a session'} of {found}")
    replay_session(events, speed)


def _resolve(store: Store, text: str) -> Pair:
    """The stored pair a user means. Raises UsageProblem when it may be several."""
    if "->" in text:
        wanted: Pair = PAIR.convert(text, None, None)
        matching = [wanted] if store.records(wanted) else []
    else:
        pairs = (summary.pair for summary in store.pairs())
        matching = [pair for pair in pairs if pair.destination == text]
    if not matching:
        raise click.ClickException(
            f"nothing is stored of '{text}': `advisor history` lists the pairs"
        )
    if len(matching) > 1:
        choices = ", ".join(f"'{pair}'" for pair in matching)
        raise click.UsageError(f"PAIR: '{text}' may be several: write one of {choices}")
    return matching[0]


def _show_json(pair: Pair, best: list[PastResult], records: list[Record]) -> bytes:
    return msgspec.json.encode(
        {
            "pair": pair,
            "best": best,
            "advice": [r for r in records if isinstance(r, AdviceRecord)],
            "probes": [r for r in records if isinstance(r, ProbeRecord)],
        }
    )


def _show_text(pair: Pair, best: list[PastResult], records: list[Record]) -> None:
    click.echo(f"{pair}\n\nBest")
    _table(_BEST_COLUMNS, [_best_cells(result) for result in best])
    for result in best:
        if result.caution:
            click.echo(f"{result.transport}: {result.caution}")
    advices = [r for r in records if isinstance(r, AdviceRecord)]
    if advices:
        click.echo("\nAdvice")
        _table(_ADVICE_COLUMNS, [_advice_cells(advice) for advice in advices])
    click.echo("\nProbes")
    _table(_PROBE_COLUMNS, [_probe_cells(r) for r in records if isinstance(r, ProbeRecord)])


_BEST_COLUMNS: Final = ("transport", "throughput", "spread", "probes", "age", "setting")
_ADVICE_COLUMNS: Final = ("given", "transport", "expected", "setting", "complete")
_PROBE_COLUMNS: Final = ("recorded", "transport", "result", "setting", "origin")


def _best_cells(result: PastResult) -> list[str]:
    return [
        result.transport,
        format_rate(result.throughput_bps),
        "unknown" if result.spread is None else f"{result.spread:.0%}",
        str(result.probes),
        format_duration(result.age_s),
        setting_words(result.setting),
    ]


def _advice_cells(record: AdviceRecord) -> list[str]:
    advice = record.advice
    return [
        utc_text(record.recorded_s),
        advice.transport,
        format_rate(advice.expected_bps),
        setting_words(advice.setting),
        "no" if advice.incomplete else "yes",
    ]


def _probe_cells(probe: ProbeRecord) -> list[str]:
    result = probe.result
    return [
        utc_text(probe.recorded_s),
        probe.subject,
        format_rate(result.throughput_bps)
        if isinstance(result, Measurement)
        else f"failed: {result.kind}",
        setting_words(probe.setting),
        probe.origin,
    ]


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> None:
    """A table as the reader can use it: drawn on a terminal, plain columns in a pipe."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console().print(table)
        return
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    for line in chain([columns], rows):
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


@history.command("import")
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
    with _store_errors():
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


@history.command()
@click.argument("pair", required=False)
@click.option(
    "--format", "format_name", type=click.Choice(list(_WRITERS)), default="jsonl", show_default=True
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write there, not to stdout."
)
@store_option
def export(
    pair: str | None,
    format_name: str,
    output: Path | None,
    store: Store,
) -> None:
    """Write the records of PAIR, or of all pairs; CSV and Markdown have the probes only."""
    with _store_errors():
        pairs = [_resolve(store, pair)] if pair else [summary.pair for summary in store.pairs()]
        records = chain.from_iterable(store.records(each) for each in pairs)
        write = _WRITERS[format_name]
        if output is None:
            write(records, sys.stdout)
        else:
            _write_file(output, records, write)


def _write_file(
    path: Path, records: Iterable[Record], write: Callable[[Iterable[Record], TextIO], None]
) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            write(records, stream)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise click.ClickException(
            f"--output: cannot write '{path}': {reason}; name another file"
        ) from error
