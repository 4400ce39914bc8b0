"""`advisor advise`: measures a path and prints advice."""

import typer

from advisor.cli.advise.options import DataOptions, SearchOptions, SeveralOptions, ToolOptions
from advisor.cli.commands import command
from advisor.cli.connection import DataReachOptions, DestinationArgument
from advisor.cli.errors import UsageError
from advisor.cli.options import EventsAsJson, OrdersOption, StoreOption


@command()
def advise(
    context: typer.Context,
    reach: DataReachOptions,
    several: SeveralOptions,
    search: SearchOptions,
    data: DataOptions,
    tool: ToolOptions,
    *,
    store: StoreOption,
    destination: DestinationArgument = None,
    as_json: EventsAsJson = False,
    orders: OrdersOption = False,
) -> int:
    """Measure the path to DESTINATION and print advice with command lines.

    DESTINATION is [USER@]HOST, reached with your own ssh (advisor must be installed there),
    localhost, or lab:NAME for a testbed of 'advisor lab'. With --agent HOST:PORT it may be left
    out.
    """
    # For the help alone they would take most of its time.
    from advisor.cli.advise.request import (
        advice_request,
        check_tool,
        check_without_agent,
        interface_fields,
        with_found_tool,
    )
    from advisor.cli.advise.sessions import run_session

    check_tool(context, tool, data)
    where = reach.request_fields(destination) | interface_fields(several, reach, search, tool)
    tool = with_found_tool(tool, data, where)
    check_without_agent(tool, reach, where["destination"])
    request = advice_request(where, search, data, tool)
    if search.accept_history and search.measure:
        raise UsageError("--accept-history and --measure exclude each other", remedy="give one")
    ask = not (search.measure or as_json or orders)
    return run_session(request, store, as_json=as_json, ask=ask, orders=orders)
