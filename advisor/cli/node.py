"""`advisor node`: one node of a transfer over several."""

import asyncio

from advisor.cli.commands import command
from advisor.cli.errors import UsageError


@command()
def node() -> int:
    """Move files as one of the source nodes of 'advisor transfer --via', which starts it by itself.

    It reads from standard input what to move, and writes to standard output what has arrived. It
    needs no access to the history.
    """
    from advisor.agent.stdio import NoChannel
    from advisor.transfer.nodes.node import serve_node

    try:
        asyncio.run(serve_node())
    except NoChannel as error:
        raise UsageError.about("", error) from None
    return 0
