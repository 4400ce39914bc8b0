"""`advisor history sessions`, and the user's remarks: notes, marks, real transfers."""

import time
from typing import Annotated, Final, Literal

import msgspec
import typer

from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.lookup import resolve_pair, resolve_session, store_errors
from advisor.cli.options import ResultAsJson, StoredOption
from advisor.cli.parameters import DURATION, SIZE
from advisor.domain.advice import CameTrue, came_true
from advisor.domain.endpoints import Pair
from advisor.domain.quantities import format_rate, format_rates
from advisor.domain.records import RemarkRecord, TransferRecord
from advisor.report.output import say, say_json
from advisor.report.tables import print_table
from advisor.store.history import SessionDigest, Store
from advisor.store.probe_rows import utc_text
from advisor.store.remarks import Note

_COLUMNS: Final = ("session", "began", "pair", "state", "probes", "best", "advice", "remarks")
_CAME_TRUE: Final[dict[CameTrue, str]] = {
    "within": "as advised",
    "above": "more than advised",
    "below": "less than advised",
}


SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Its name in 'advisor history sessions', or the beginning of it.",
    ),
]


@command()
def sessions(
    pair: Annotated[
        str | None,
        typer.Argument(metavar="PAIR", help="'SOURCE->DESTINATION', or its destination alone."),
    ] = None,
    *,
    store: StoredOption,
    deleted: Annotated[bool, typer.Option("--deleted", help="List deleted sessions too.")] = False,
    as_json: ResultAsJson = False,
) -> None:
    """List the sessions of PAIR, or of all pairs, the newest first.

    Imported probes are listed by the day they were measured on.
    """
    with store_errors():
        wanted = resolve_pair(store, pair) if pair else None
        found = store.sessions(wanted, include_deleted=deleted)
    if as_json:
        say_json(msgspec.json.encode(found))
    elif found:
        print_table(_COLUMNS, [_cells(session) for session in found])
    else:
        with store_errors():
            say(why_no_session(store, wanted), err=True)


def why_no_session(store: Store, pair: Pair | None = None) -> str:
    """Why no session of a pair, or of all, is listed. Raises StoreError."""
    of_pair = f" of {pair}" if pair else ""
    if store.sessions(pair, include_deleted=True):
        how = "`advisor history sessions --deleted` lists them"
        return f"All sessions{of_pair} are deleted: {how}."
    if store.stored_pairs():
        return f"No session{of_pair} is stored. What was measured for sharing belongs to none."
    return "Nothing is stored yet: measure with `advisor advise`."


def _cells(session: SessionDigest) -> list[str]:
    best, advice = session.best, session.advice
    failures = f" ({session.failures} failed)" if session.failures else ""
    return [
        session.session,
        utc_text(session.began_s),
        str(session.pair),
        session.state,
        f"{session.probes}{failures}",
        f"{best.subject} {format_rate(best.throughput_bps)}" if best else "none",
        f"{advice.subject} {format_rate(advice.expected_bps)}" if advice else "none",
        "; ".join(_remarks(session)),
    ]


def _remarks(session: SessionDigest) -> list[str]:
    by = f" by {session.deleted_by}" if session.deleted_by else ""
    marks = [f"deleted{by}"] * session.deleted + ["outlier"] * session.outlier
    if session.outlier_probes:
        marks.append(f"outlying probes: {len(session.outlier_probes)}")
    transfers = [
        f"transfer {format_rate(t.rate_bps)}"
        + (f", {_CAME_TRUE[t.came_true]}" if t.came_true else "")
        for t in session.transfers
    ]
    return marks + transfers + [_note_words(note) for note in session.notes]


def _note_words(note: Note) -> str:
    text = " ".join(note.text.split())
    return f"{text} ({note.by})" if note.by else text


@command()
def note(
    session: SessionArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text of the note.")],
    *,
    store: StoredOption,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the note with this TEXT.")] = False,
) -> None:
    """Attach TEXT to SESSION as a note, which the list of sessions shows.

    SESSION is a name that `advisor history sessions` lists, or the beginning of one.
    """
    if not text.strip():
        raise UsageError("TEXT is empty", remedy="write the text of the note")
    with store_errors():
        found = resolve_session(store, session)
        if undo and all(known.text != text for known in found.notes):
            raise CommandFailed(f"session {found.session} has no such note")
        _remark(store, found, "note", text=text, on=not undo)
    say(f"Note {'removed from' if undo else 'added to'} session {found.session}.")


@command()
def outlier(
    session: SessionArgument,
    *,
    store: StoredOption,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the mark.")] = False,
) -> None:
    """Mark SESSION as an outlier: it stays in the list, but is no longer used as a result.

    For measurements made while something was wrong. SESSION is a name that `advisor history
    sessions` lists, or the beginning of one.
    """
    with store_errors():
        found = resolve_session(store, session)
        _remark(store, found, "outlier", on=not undo)
    counts = (
        "counts again"
        if undo
        else "is marked as an outlier and no longer counts; --undo removes the mark"
    )
    say(f"Session {found.session} {counts}.")


@command()
def delete(
    session: SessionArgument,
    *,
    store: StoredOption,
    undo: Annotated[bool, typer.Option("--undo", help="Restore it.")] = False,
) -> None:
    """Hide SESSION from all lists and results. Nothing is erased: --undo restores it.

    SESSION is a name that `advisor history sessions --deleted` lists, or the beginning of one.
    """
    with store_errors():
        found = resolve_session(store, session)
        _remark(store, found, "deleted", on=not undo)
    done = "is back" if undo else "is deleted; --undo restores it"
    say(f"Session {found.session} {done}.")


@command()
def transferred(
    session: SessionArgument,
    *,
    store: StoredOption,
    size: Annotated[int, typer.Option("--size", **SIZE, help="What was moved, as in 10TB.")],
    took: Annotated[
        float, typer.Option("--took", **DURATION, help="How long it took, as in 47min.")
    ],
    text: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="A note on the transfer.")
    ] = "",
) -> None:
    """Record the real transfer that followed SESSION, and compare it with the advice.

    SESSION is a name that `advisor history sessions` lists, or the beginning of one.
    """
    with store_errors():
        found = resolve_session(store, session)
        record = TransferRecord(
            pair=found.pair,
            recorded_s=time.time(),
            session=found.session,
            total_bytes=size,
            elapsed_s=took,
            note=text,
        )
        store.append(record)
    rate = format_rate(record.rate_bps)
    if found.advice is None:
        say(f"{rate}; session {found.session} has no advice to compare it with.")
        return
    interval_bps = found.advice.interval_bps
    verdict = _CAME_TRUE[came_true(record.rate_bps, interval_bps)]
    say(f"{rate}: {verdict} (90 %: {format_rates(*interval_bps)}).")


def _remark(
    store: Store,
    session: SessionDigest,
    kind: Literal["note", "outlier", "deleted"],
    *,
    on: bool,
    text: str = "",
) -> None:
    store.append(
        RemarkRecord(
            pair=session.pair,
            recorded_s=time.time(),
            session=session.session,
            kind=kind,
            text=text,
            on=on,
        )
    )
