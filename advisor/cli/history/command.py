"""`advisor history`: the stored probes and advice."""

import csv
import sys
import time
from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command, group, is_typed
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.advice import advice_
from advisor.cli.history.files import export, import_files
from advisor.cli.history.lookup import resolve_pair, store_errors
from advisor.cli.history.review import (
    delete,
    note,
    outlier,
    sessions,
    transferred,
    why_no_session,
)
from advisor.cli.options import OUTPUT, StoredOption, StoreOption, json_option, require_stored
from advisor.domain.endpoints import Pair
from advisor.domain.events import PastResult
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.records import AdviceRecord, ProbeRecord, Record
from advisor.domain.space import setting_words
from advisor.report.output import PrintableStream, say, say_json
from advisor.report.tables import print_table
from advisor.store.exporters import write_csv
from advisor.store.history import PairSummary, Store
from advisor.store.probe_rows import utc_text
from advisor.store.remarks import session_of, visible

AsJson = Annotated[bool, json_option("Print JSON, instead of tables.")]
AsCsv = Annotated[
    bool,
    typer.Option("--csv", help="Print CSV, instead of tables.", rich_help_panel=OUTPUT),
]
PairArgument = Annotated[
    str,
    typer.Argument(metavar="PAIR", help="'SOURCE->DESTINATION', or its destination alone."),
]


def _one_format(as_json: bool, as_csv: bool) -> None:
    if as_json and as_csv:
        raise UsageError(
            "--csv: it cannot be given together with --json", remedy="choose one of them"
        )


@group(invoke_without_command=True)
def history(
    context: typer.Context, *, store: StoreOption, as_json: AsJson = False, as_csv: AsCsv = False
) -> None:
    """List the measured pairs, and show, mark, import and export their sessions.

    Without a command it is 'advisor history list'.
    """
    context.obj = store
    if context.invoked_subcommand is not None:
        if as_json or as_csv:
            given = "--json" if as_json else "--csv"
            raise UsageError(
                f"{given} is an option of the subcommand",
                remedy=f"write it after '{context.invoked_subcommand}'",
            )
        return
    if is_typed(context, "store"):
        require_stored(store)
    _list(store, as_json=as_json, as_csv=as_csv)


@command("list")
def list_(*, store: StoredOption, as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the pairs that were measured, with the best result and the last advice of each."""
    _list(store, as_json=as_json, as_csv=as_csv)


def _list(store: Store, *, as_json: bool, as_csv: bool) -> None:
    _one_format(as_json, as_csv)
    with store_errors():
        summaries = store.pairs()
    if as_json:
        say_json(msgspec.json.encode(summaries))
    elif as_csv:
        _list_csv(summaries)
    elif summaries:
        print_table(_LIST_COLUMNS, [_list_cells(s) for s in summaries])
    else:
        with store_errors():
            say(why_no_session(store), err=True)


_MOST_NAMED: Final = 10
"""Sessions named in an error: the newest."""

_LIST_COLUMNS: Final = ("pair", "best", "records", "last used", "advice")


def _list_cells(summary: PairSummary) -> list[str]:
    best = max(summary.best, key=lambda r: r.throughput_bps, default=None)
    advice = summary.last_advice
    return [
        str(summary.pair),
        f"{best.subject} {format_rate(best.throughput_bps)}" if best else "none",
        str(summary.records),
        utc_text(summary.last_recorded_s),
        f"{advice.advice.subject} {format_rate(advice.advice.expected_bps)}" if advice else "none",
    ]


def _list_csv(summaries: Iterable[PairSummary]) -> None:
    """One row per pair and subject; pairs without a measurement have one row without a best."""
    writer = csv.writer(PrintableStream(sys.stdout), lineterminator="\n")
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
    return [best.subject, *figures, setting, best.caution]


@command()
def show(
    pair: PairArgument, *, store: StoredOption, as_json: AsJson = False, as_csv: AsCsv = False
) -> None:
    """Show the results of PAIR: 'SOURCE->DESTINATION', or its destination alone."""
    _one_format(as_json, as_csv)
    with store_errors():
        found = resolve_pair(store, pair)
        best, records = store.best(found, time.time()), visible(store.records(found))
    if as_json:
        say_json(_show_json(found, best, records))
    elif as_csv:
        write_csv(records, PrintableStream(sys.stdout))
    else:
        _show_text(found, best, records)


@command()
def replay(
    pair: PairArgument,
    *,
    store: StoredOption,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="SESSION",
            show_default="the last",
            help="The session, by its name in 'advisor history sessions'.",
        ),
    ] = None,
    speed: Annotated[
        float | None,
        p.number(
            "--speed",
            low=0.001,
            high=1000,
            show_default="all at once",
            help="Speed relative to that of the session, as in 1 or 10.",
        ),
    ] = None,
) -> None:
    """Replay a past session of PAIR as it ran: its probes, moves and advice.

    For a tuned transfer: its settings, their reasons, and its end.
    """
    from advisor.cli.history.replay import replay_session

    with store_errors():
        found = resolve_pair(store, pair)
        known = list(dict.fromkeys(map(session_of, store.records(found))))
        if session is not None and session not in known:
            newest = ", ".join(known[-_MOST_NAMED:]) or "none"
            raise UsageError(f"--session {session}: {found} has {newest}")
        wanted = [session] if session else reversed(known)
        events = next(filter(None, (store.events(found, one) for one in wanted)), [])
    if not events:
        raise CommandFailed(f"no events are stored for {session or 'any session'} of {found}")
    replay_session(events, speed)


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
    say(f"{pair}\n\nBest")
    print_table(_BEST_COLUMNS, [_best_cells(result) for result in best])
    for result in best:
        if result.caution:
            say(f"{result.subject}: {result.caution}")
    advices = [r for r in records if isinstance(r, AdviceRecord)]
    if advices:
        say("\nAdvice")
        print_table(_ADVICE_COLUMNS, [_advice_cells(advice) for advice in advices])
    say("\nProbes")
    print_table(_PROBE_COLUMNS, [_probe_cells(r) for r in records if isinstance(r, ProbeRecord)])


_BEST_COLUMNS: Final = ("transport", "throughput", "spread", "probes", "age", "setting")
_ADVICE_COLUMNS: Final = ("given", "transport", "expected", "setting", "complete")
_PROBE_COLUMNS: Final = ("recorded", "transport", "result", "setting", "origin")


def _best_cells(result: PastResult) -> list[str]:
    return [
        result.subject,
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
        advice.subject,
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


for _command in (
    list_,
    show,
    advice_,
    replay,
    sessions,
    note,
    outlier,
    delete,
    transferred,
    import_files,
    export,
):
    history.add_command(_command)
