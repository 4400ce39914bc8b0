"""`advisor fleet changes`: what no longer reaches what it did."""

import time
from typing import Annotated

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.completion import destinations
from advisor.cli.history.lookup import resolve_pair, store_errors
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.report.output import say_json
from advisor.runtime.exit_codes import EXIT_CHANGED, EXIT_DONE
from advisor.store.completeness import in_full


@command()
def changes(
    store: StoreOption,
    *,
    pairs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAIR…",
            autocompletion=destinations,
            help="A destination, or 'SOURCE->DESTINATION'; all that are stored without one.",
        ),
    ] = None,
    since_s: Annotated[
        float | None,
        typer.Option(
            "--since", **p.DURATION, help="Only changes that were noticed in this time until now."
        ),
    ] = None,
    as_json: ResultAsJson = False,
) -> int:
    """List where throughput has changed, each pair tested against its own history.

    With what changed on the hosts and the path at the same time, where the records show it. Exit
    code 4 if there are changes, 0 if there are none, 1 if a database was not always reached.
    """
    from advisor.fleet.changes import changes_of
    from advisor.report.fleet_changes import changes_data, print_changes

    with store_errors(), in_full(store.kept, "the comparison"):
        wanted = [resolve_pair(store, text) for text in pairs or []] or store.stored_pairs()
        records = (store.records(pair) for pair in wanted)
        found = [change for own in records if own for change in changes_of(own)]
    if since_s is not None:
        found = [change for change in found if change.noticed_s >= time.time() - since_s]
    found.sort(key=lambda change: change.noticed_s, reverse=True)
    if as_json:
        say_json(msgspec.json.encode(changes_data(found)))
    else:
        print_changes(found, len(wanted))
    return EXIT_CHANGED if found else EXIT_DONE
