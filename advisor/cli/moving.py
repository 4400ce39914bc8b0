"""What commands that move files have in common: what is moved, and where it goes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from advisor.cli.asking import reach_fields, reach_options
from advisor.domain.addresses import parse_server
from advisor.hosts.datasets import scan
from advisor.session.request import AdviceRequest

_Command = TypeVar("_Command", bound=Callable[..., Any])


def moving_options(command: _Command) -> _Command:
    """DATA, DESTINATION with how to reach it, `--to` and `--server`."""
    for decorate in (
        click.option(
            "--server", help="The destination's GridFTP server, as in gsiftp://HOST:2811."
        ),
        click.option("--to", "to", help="Where it goes on the destination."),
        reach_options,
        click.argument("data", type=click.Path(exists=True, path_type=Path)),
    ):
        command = decorate(command)
    return command


def moving_request(options: dict[str, Any], **more: Any) -> AdviceRequest:
    """The question these options ask, with `more` of its fields. Raises UsageError."""
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
    return AdviceRequest(
        **reach_fields(options),
        dataset=dataset,
        destination_path=options["to"],
        server_url=server,
        **more,
    )
