"""Options of a transfer over several nodes."""

import itertools
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options
from advisor.cli.errors import UsageError
from advisor.cli.fleet.database import database
from advisor.cli.options import CONNECTION
from advisor.domain.nodes import MOST_NODES, FleetNodes, NodePair, parse_nodes
from advisor.lab.state import LabError, state_of
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.request import TransferRequest
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.opening import require_client
from advisor.store.postgres.address import Address, is_address
from advisor.traits import checked_server, moving_tool, takes_server
from advisor.transfer.tuned.transfer import TransferOptions
from advisor.transfer.tuned.tuners import learns_from_transfers

if TYPE_CHECKING:
    from advisor.fleet.nodes.session import NodesOptions


class NodeFlags(Options, frozen=True):
    """Who moves the files, if not this host alone."""

    via: Annotated[
        list[Any] | None,
        typer.Option(
            "--via",
            parser=p.parsed(parse_nodes),
            metavar="NODES",
            help="Move over several nodes: pairs of source and destination nodes, as in "
            "dtn11=dtn21,dtn12=dtn22, source nodes alone, which send to DESTINATION, or @GROUP of "
            "the fleet for either. Can be repeated. Needs a history in PostgreSQL.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    node_command: Annotated[
        str | None,
        typer.Option(
            "--node-command",
            metavar="COMMAND",
            show_default="advisor node",
            help="With --via: what starts a node on the source nodes, if advisor is not in PATH "
            "there.",
            rich_help_panel=CONNECTION,
        ),
    ] = None


def nodes_of(flags: NodeFlags, request: TransferRequest, store: Store) -> "NodesOptions | None":
    """The nodes, and the database of their queue; None without --via. Raises UsageError."""
    if not flags.via:
        if flags.node_command:
            raise UsageError("--node-command is for --via", remedy="give both")
        return None
    _check_method(request)
    queue = _queue_of(store)
    found = [_resolved(one, store) for one in itertools.chain.from_iterable(flags.via)]
    tool = request.tool or moving_tool()
    nodes = [_with_lab_server(one, tool) for one in itertools.chain.from_iterable(found)]
    if len(nodes) > MOST_NODES:
        raise UsageError(f"--via: a transfer has {MOST_NODES} nodes at most")
    _check(nodes, request, tool)
    from advisor.fleet.nodes.session import NodesOptions

    if flags.node_command:
        return NodesOptions(nodes=nodes, queue=queue, node_command=flags.node_command)
    return NodesOptions(nodes=nodes, queue=queue)


def _check_method(request: TransferRequest) -> None:
    if learns_from_transfers(request.method):
        raise UsageError(
            f"--method {request.method} needs past transfers, which nodes do not have",
            remedy="choose another one",
        )


def _check(nodes: Sequence[NodePair], request: TransferRequest, tool: str) -> None:
    for one in nodes:
        if one.server_url:
            try:
                checked_server(one.server_url, [tool])
            except ValueError as error:
                raise UsageError(f"--via {error}") from None
        destination = one.destination or request.destination
        if destination.is_local and not one.source.is_local:
            raise UsageError(
                f"--via {one.source}: its destination is localhost, which is that node itself",
                remedy="name the destination by a name that the source nodes know",
            )


def _queue_of(store: Store) -> Address:
    """The database of the queue. Raises UsageError."""
    if not is_address(store.argument):
        raise UsageError(
            f"--store {store.argument}: --via needs a database, for the queue of the pieces",
            remedy="give --store postgresql://HOST/DATABASE, or name it in the configuration",
        )
    try:
        require_client()
    except StoreError as error:
        raise UsageError.about("--via", error) from None
    return Address.parse(store.argument)


def _resolved(one: NodePair | FleetNodes, store: Store) -> list[NodePair]:
    """The pairs; those of a fleet by the configuration in force. Raises UsageError."""
    if isinstance(one, NodePair):
        return [one]
    from advisor.fleet.configuration.reading import BadFleet
    from advisor.fleet.nodes.groups import nodes_of_fleet
    from advisor.fleet.state.reading import applied

    with database(store, "advisor_reader") as connection:
        content = applied(connection).configuration.content
    try:
        return nodes_of_fleet(content, one)
    except BadFleet as error:
        raise UsageError.about("--via", error) from None


def _with_lab_server(one: NodePair, tool: str) -> NodePair:
    """A destination in a lab has a server of the lab's, for tools that can use it."""
    lab_host = one.destination.lab_host if one.destination else None
    if lab_host is None or one.server_url:
        return one
    try:
        url = state_of(lab_host.lab).far(lab_host.host).gridftp_url
    except LabError as error:
        raise UsageError.about(f"--via {one.destination}", error) from None
    usable = url if url and takes_server(tool, url) else None
    return msgspec.structs.replace(one, server_url=usable)


def over_nodes(
    request: TransferRequest,
    options: TransferOptions,
    over: "NodesOptions",
    store: Store,
    publish: Publish,
    control: Control,
) -> Coroutine[Any, Any, int]:
    """The session of a transfer over several nodes."""
    from advisor.fleet.nodes.session import transfer_over_nodes

    return transfer_over_nodes(
        request, options, over, store=store, publish=publish, control=control
    )
