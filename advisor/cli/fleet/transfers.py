"""`advisor fleet transfers`: transfers over several nodes."""

from typing import Annotated

import msgspec
import typer

from advisor.cli.commands import command
from advisor.cli.fleet.database import database
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.report.output import say_json


@command()
def transfers(
    store: StoreOption,
    *,
    ended: Annotated[
        bool, typer.Option("--ended", help="Show those that have ended too, the newest first.")
    ] = False,
    as_json: ResultAsJson = False,
) -> int:
    """Show the transfers over several nodes of all users, and how each node does.

    They are made by 'advisor transfer --via'.
    """
    with database(store, "advisor_reader") as connection:
        from advisor.fleet.state.transfers import transfers_of

        found = transfers_of(connection, with_ended=ended)
    if as_json:
        say_json(msgspec.json.encode(found))
        return 0
    from advisor.report.node_status import print_transfers

    print_transfers(found)
    return 0
