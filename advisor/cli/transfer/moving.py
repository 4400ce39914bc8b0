"""What commands that move files have in common: what is moved, where it goes, how it is run."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click
from platformdirs import user_state_path

from advisor.cli import parameters as p
from advisor.cli.advise.sessions import on_lab, with_signals
from advisor.cli.connection import reach_fields, reach_options_for
from advisor.cli.urls import GridFtpUrl
from advisor.domain import events as ev
from advisor.domain.addresses import parse_server
from advisor.domain.endpoints import Endpoint
from advisor.hosts.datasets import scan
from advisor.report import ndjson
from advisor.report.plan_narration import PlanNarration
from advisor.report.transfer import ended_lines
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.request import TransferRequest
from advisor.transfer.engine.session import JournalOptions

_Command = TypeVar("_Command", bound=Callable[..., Any])

Session = Callable[[Publish, Control], Coroutine[Any, Any, int]]


def _destination(text: str) -> Endpoint | GridFtpUrl:
    return GridFtpUrl.parse(text) if "://" in text else Endpoint.parse(text)


def moving_options(command: _Command) -> _Command:
    """DATA, DESTINATION with how to reach it, `--to` and `--server`."""
    for decorate in (
        click.option(
            "--server", help="The destination's GridFTP server, as in gsiftp://HOST:2811."
        ),
        click.option("--to", "to", help="Where it goes on the destination."),
        reach_options_for(p.Parsed("[USER@]HOST", _destination)),
        click.argument("data", type=p.LocalData()),
    ):
        command = decorate(command)
    return command


def with_urls(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with what a destination's URL says in its place. Raises UsageError."""
    url = options["destination"]
    if not isinstance(url, GridFtpUrl):
        return options
    if options["to"] or options["server"]:
        raise click.UsageError(
            "DESTINATION is a URL, which says where: leave out --to and --server"
        )
    return options | {"destination": url.endpoint, "to": url.path, "server": url.server}


def moving_request(options: dict[str, Any], **more: Any) -> TransferRequest:
    """The question these options ask, with `more` of its fields. Raises UsageError.

    For a destination in a lab this process goes there.
    """
    if not options["to"]:
        raise click.UsageError("--to is missing: say where the files go on the destination")
    try:
        dataset = scan(options["data"])
    except (OSError, ValueError) as error:
        raise click.UsageError(f"DATA {options['data']}: {error}") from None
    try:
        server = parse_server(options["server"]) if options["server"] else None
    except ValueError as error:
        raise click.UsageError(f"--server {error}") from None
    return on_lab(
        TransferRequest(
            **reach_fields(options),
            dataset=dataset,
            destination_path=options["to"],
            server_url=server,
            **more,
        )
    )


def kept_of(options: dict[str, Any]) -> JournalOptions:
    """Where a transfer that is broken off goes on from."""
    return JournalOptions(journals=user_state_path("advisor") / "transfers", anew=options["anew"])


def run_moving(
    session: Session,
    narrated: type[PlanNarration],
    as_text: Callable[[ev.AnyEvent], None],
    *,
    as_json: bool,
    orders: bool = False,
    stopping: str = "stopping; what arrived stays there",
) -> int:
    """Run it to its exit code: told on standard error, its data on standard output.

    `stopping`: what the first signal means.
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
    """Print what became of a transfer when it has ended; on standard error why there was none."""
    match event:
        case ev.TransferEnded():
            click.echo("\n".join(ended_lines(event)))
        case ev.GaveUp():
            click.echo(f"advisor: {event.message}", err=True)
