"""`advisor resume`: go on where an interrupted session stopped."""

from typing import Any

import click
import msgspec

from advisor.advising.session import Interrupted
from advisor.cli.advise.sessions import run_session
from advisor.cli.options import store_option
from advisor.runtime.request import AdviceRequest


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Events as lines of JSON, the advice last.")
@click.option("--orders", is_flag=True, help="Read orders from standard input, as lines of JSON.")
@store_option
def resume(**options: Any) -> int:
    """Go on with the last session that was interrupted, of whatever pair.

    Its probes count: the search goes on from where it was, within the time that was left.
    """
    store = options["store"]
    found = store.latest_unfinished_session(None)
    if found is None:
        raise click.UsageError("there is no interrupted session: begin one with 'advisor advise'")
    record, probes = found
    try:
        request = msgspec.convert(record.request, AdviceRequest)
    except msgspec.ValidationError:
        raise click.UsageError(
            f"session {record.session} was begun by another version: begin anew with "
            f"'advisor advise'"
        ) from None
    interrupted = Interrupted(record, probes)
    return run_session(
        request,
        store,
        as_json=options["as_json"],
        ask=False,
        orders=options["orders"],
        interrupted=interrupted,
    )
