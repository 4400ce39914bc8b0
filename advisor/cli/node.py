"""`advisor node`: one node of a transfer over several."""

import asyncio

from advisor.cli.commands import command


@command()
def node() -> int:
    """Move files as one of the source nodes of 'advisor transfer --via', which starts it by itself.

    It is told on standard input what to move, and says on standard output what has arrived. It
    needs no access to the history.
    """
    from advisor.transfer.nodes.node import serve_node

    asyncio.run(serve_node())
    return 0
