"""`advisor history sessions`, and what a user says of them: notes, marks, real transfers."""

import time
from typing import Final, Literal

import click
import msgspec

from advisor.cli.history.lookup import resolve_pair, resolve_session, store_errors
from advisor.cli.options import store_option
from advisor.cli.parameters import DURATION, SIZE
from advisor.domain.advice import CameTrue, came_true
from advisor.domain.quantities import format_rate, format_rates
from advisor.domain.records import RemarkRecord, TransferRecord
from advisor.report.tables import print_table
from advisor.store.exporters import utc_text
from advisor.store.history import SessionDigest, Store

_COLUMNS: Final = ("session", "began", "pair", "state", "probes", "best", "advice", "remarks")
_CAME_TRUE: Final[dict[CameTrue, str]] = {
    "within": "as advised",
    "above": "more than advised",
    "below": "less than advised",
}


@click.command()
@click.argument("pair", required=False)
@click.option("--deleted", is_flag=True, help="List deleted sessions too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def sessions(pair: str | None, deleted: bool, as_json: bool, store: Store) -> None:
    """List the sessions of PAIR, or of all pairs, the newest first.

    Imported probes are listed by the day they were measured on.
    """
    with store_errors():
        wanted = resolve_pair(store, pair) if pair else None
        found = store.sessions(wanted, include_deleted=deleted)
    if as_json:
        click.echo(msgspec.json.encode(found))
    elif found:
        print_table(_COLUMNS, [_cells(session) for session in found])
    elif pair:
        click.echo(f"All sessions of {wanted} are deleted: --deleted lists them.", err=True)
    else:
        click.echo("Nothing is stored yet: measure with `advisor advise`.", err=True)


def _cells(session: SessionDigest) -> list[str]:
    best, advice = session.best, session.advice
    failures = f" ({session.failures} failed)" if session.failures else ""
    return [
        session.session,
        utc_text(session.began_s),
        str(session.pair),
        session.state,
        f"{session.probes}{failures}",
        f"{best.transport} {format_rate(best.throughput_bps)}" if best else "none",
        f"{advice.transport} {format_rate(advice.expected_bps)}" if advice else "none",
        "; ".join(_remarks(session)),
    ]


def _remarks(session: SessionDigest) -> list[str]:
    marks = ["deleted"] * session.deleted + ["outlier"] * session.outlier
    if session.outlier_probes:
        marks.append(f"outlying probes: {len(session.outlier_probes)}")
    transfers = [
        f"transfer {format_rate(t.rate_bps)}"
        + (f", {_CAME_TRUE[t.came_true]}" if t.came_true else "")
        for t in session.transfers
    ]
    return marks + transfers + [" ".join(note.text.split()) for note in session.notes]


@click.command()
@click.argument("session")
@click.argument("text")
@click.option("--undo", is_flag=True, help="Take back the note with this TEXT.")
@store_option
def note(session: str, text: str, undo: bool, store: Store) -> None:
    """Write TEXT beside SESSION, to be found in the list of sessions.

    SESSION is a name that `advisor history sessions` lists, or the beginning of one.
    """
    if not text.strip():
        raise click.UsageError("TEXT: it is empty: write what is to be remembered")
    with store_errors():
        found = resolve_session(store, session)
        if undo and all(known.text != text for known in found.notes):
            raise click.ClickException(f"session {found.session} has no such note")
        _remark(store, found, "note", text=text, on=not undo)
    click.echo(f"Note {'taken back' if undo else 'kept'} on session {found.session}.")


@click.command()
@click.argument("session")
@click.option("--undo", is_flag=True, help="Let it count again.")
@store_option
def outlier(session: str, undo: bool, store: Store) -> None:
    """Mark SESSION as an outlier: it stays in the list, and counts no more as a result.

    For what was measured while something was out of order. SESSION is a name that `advisor history
    sessions` lists, or the beginning of one.
    """
    with store_errors():
        found = resolve_session(store, session)
        _remark(store, found, "outlier", on=not undo)
    counts = "counts again" if undo else "is an outlier and counts no more; --undo takes that back"
    click.echo(f"Session {found.session} {counts}.")


@click.command()
@click.argument("session")
@click.option("--undo", is_flag=True, help="Bring it back.")
@store_option
def delete(session: str, undo: bool, store: Store) -> None:
    """Hide SESSION from all lists; it counts no more. Nothing is lost: --undo brings it back.

    SESSION is a name that `advisor history sessions --deleted` lists, or the beginning of one.
    """
    with store_errors():
        found = resolve_session(store, session)
        _remark(store, found, "deleted", on=not undo)
    done = "is back" if undo else "is deleted; --undo brings it back"
    click.echo(f"Session {found.session} {done}.")


@click.command()
@click.argument("session")
@click.option("--size", type=SIZE, required=True, help="What was moved, as in 10TB.")
@click.option("--took", type=DURATION, required=True, help="How long it took, as in 47min.")
@click.option("--note", "text", default="", metavar="TEXT", help="What else is to be remembered.")
@store_option
def transferred(session: str, size: int, took: float, text: str, store: Store) -> None:
    """Record what the real transfer gave that followed SESSION, and whether its advice came true.

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
        click.echo(f"{rate}; session {found.session} gave no advice to compare it with.")
        return
    interval_bps = found.advice.interval_bps
    verdict = _CAME_TRUE[came_true(record.rate_bps, interval_bps)]
    click.echo(f"{rate}: {verdict} (90 %: {format_rates(*interval_bps)}).")


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
