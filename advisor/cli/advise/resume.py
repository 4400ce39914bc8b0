"""`advisor resume`: continues the last interrupted session, or measures longer."""

from typing import Annotated

import msgspec
import typer

from advisor.advising.session import Interrupted
from advisor.cli import parameters as p
from advisor.cli.advise.sessions import run_session
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.options import EventsAsJson, OrdersOption, StoreOption
from advisor.domain.records import ProbeRecord, SessionRecord
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store


@command()
def resume(
    *,
    store: StoreOption,
    more: Annotated[
        float | None,
        typer.Option(
            "--more",
            **p.DURATION,
            help="Measure for this much more time, as in 30s, also if the session has ended.",
        ),
    ] = None,
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Which session, instead of the last one.")
    ] = "",
    as_json: EventsAsJson = False,
    orders: OrdersOption = False,
) -> int:
    """Resume the last interrupted session, whichever pair it measured, or that of --session.

    Its probes count: the search continues from where it was, within the time that was left. With
    --more it continues the last session for that much more time, even if it had stopped because all
    was decided, and then gives new advice.
    """
    record, probes = _asked_for(store, session, longer=bool(more))
    try:
        request = msgspec.convert(record.request, AdviceRequest)
    except msgspec.ValidationError:
        raise UsageError(
            f"session {record.session} was started by another version",
            remedy="start a new one with 'advisor advise'",
            command="advisor advise",
        ) from None
    if more and request.interfaces:
        raise UsageError(
            f"session {record.session} measured several connections: it cannot be continued",
            remedy="start a new one with 'advisor advise', and a larger --budget",
        )
    interrupted = Interrupted(record, probes, more or 0.0)
    return run_session(
        request,
        store,
        as_json=as_json,
        ask=False,
        orders=orders,
        interrupted=interrupted,
    )


def _asked_for(
    store: Store, session: str, *, longer: bool
) -> tuple[SessionRecord, list[ProbeRecord]]:
    """The session to resume, or to measure longer in, with its probes. Raises UsageError."""
    known = store.session_to_extend(session) if longer or session else None
    if longer:
        found = known
    elif session:
        found = store.unfinished_session(session)
    else:
        found = store.latest_unfinished_session(None)
    if found:
        return found
    if known:
        raise UsageError(
            f"session {session} has ended",
            remedy="measure longer in it with --more, as in --more 30s",
        )
    raise UsageError(
        "there is no such session" if longer or session else "there is no interrupted session",
        remedy="begin one with 'advisor advise'",
        command="advisor advise",
    )
