"""What commands that move files have in common: what is moved, where it goes, how it is run."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import is_typed
from advisor.cli.connection import ReachOptions, destination_argument
from advisor.cli.errors import UsageError
from advisor.cli.lab_source import on_lab
from advisor.cli.options import ServerOption, ToOption
from advisor.cli.signals import with_signals
from advisor.cli.transfer.delivery import ListingFlags, rules_of
from advisor.cli.urls import GridFtpUrl
from advisor.domain import events as ev
from advisor.domain.endpoints import Endpoint
from advisor.hosts.datasets import scan
from advisor.report import ndjson
from advisor.report.output import say
from advisor.report.plan_narration import PlanNarration
from advisor.report.transfer import ended_lines
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.request import TransferRequest
from advisor.traits import checked_server, moving_tool

Session = Callable[[Publish, Control], Coroutine[Any, Any, int]]


def _destination(text: str) -> Endpoint | GridFtpUrl:
    return GridFtpUrl.parse(text) if "://" in text else Endpoint.parse(text)


class MovingOptions(ReachOptions, frozen=True, kw_only=True):
    """DATA, DESTINATION with how to reach it, and where the files go there."""

    data: Annotated[
        Path,
        typer.Argument(**p.LOCAL_DATA, help="The file or folder to move; a file:// URL will do."),
    ]
    destination: Annotated[
        Any,
        destination_argument(
            parser=p.parsed(_destination),
            help="[USER@]HOST, lab:NAME, or a URL as in gsiftp://HOST/PATH.",
        ),
    ] = None
    to: ToOption = None
    server: ServerOption = None


def moving_request(
    context: typer.Context, options: MovingOptions, listing: ListingFlags, **more: Any
) -> TransferRequest:
    """The request of these options, with `more` of its fields. Raises UsageError.

    What a destination's URL says precedes the configuration. For a destination in a lab this
    process goes there.
    """
    destination, to, server = options.destination, options.to, options.server
    if isinstance(destination, GridFtpUrl):
        if is_typed(context, "to") or is_typed(context, "server"):
            raise UsageError(
                "DESTINATION is a URL, which says where", remedy="leave out --to and --server"
            )
        to, server, destination = destination.path, destination.server, destination.endpoint
    reached = options.request_fields(destination)
    if not to:
        raise UsageError("--to is missing", remedy="name the folder on the destination")
    try:
        rules = rules_of(listing)
        dataset = scan(options.data, rules)
    except (OSError, ValueError) as error:
        raise UsageError.about(f"DATA {options.data}", error) from None
    try:
        names = [more["tool"]] if more.get("tool") else [moving_tool()]
        server = checked_server(server, names) if server else None
    except ValueError as error:
        raise UsageError(f"--server {error}") from None
    return on_lab(
        TransferRequest(
            **reached,
            dataset=dataset,
            destination_path=to,
            server_url=server,
            rules=rules,
            **more,
        )
    )


def run_moving(
    session: Session,
    narrated: type[PlanNarration],
    as_text: Callable[[ev.AnyEvent], None],
    *,
    as_json: bool,
    orders: bool = False,
    stopping: str = "stopping; what arrived stays there",
) -> int:
    """Run the session, narrated on standard error, its data on standard output; the exit code.

    `stopping`: the notice at the first signal.
    """
    control = Control()
    with narrated(sys.stderr, bars=sys.stderr.isatty() and not as_json) as narration:
        data = ndjson.writer(sys.stdout) if as_json else as_text

        def publish(event: ev.AnyEvent) -> None:
            narration(event)
            data(event)

        return asyncio.run(
            with_signals(
                lambda: session(publish, control),
                control,
                publish,
                orders=orders,
                stopping=stopping,
            )
        )


def say_end(event: ev.AnyEvent) -> None:
    """Print the result of a transfer that has ended; errors on standard error."""
    match event:
        case ev.TransferEnded():
            say("\n".join(ended_lines(event)))
        case ev.GaveUp():
            say(f"advisor: {event.message}", err=True)
