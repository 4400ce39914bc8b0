"""`advisor agent`: the other side."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from advisor.agent.secret import BadSecret, new_secret, read_secret, write_secret
from advisor.cli import parameters as p


@click.command()
@click.option("--stdio", is_flag=True, help="Serve on standard input and output (ssh does this).")
@click.option("--listen", type=p.LISTEN, help="Serve on this address and port, over TLS.")
@click.option(
    "--secret-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the secret here: made if it is not there yet, and the same at every start.",
)
@click.option(
    "--ports",
    type=p.PORTS,
    envvar="GLOBUS_TCP_PORT_RANGE",
    help="Ports that may be opened for data. [any; GLOBUS_TCP_PORT_RANGE counts]",
)
@click.option(
    "--files",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="With --listen: a folder whose files advisors may measure, check, put in place. [none]",
)
def agent(**options: Any) -> int:
    """Be the destination of an advisor on another host.

    An advisor starts this by itself over ssh. Where there is no ssh between the hosts, start it
    by hand with --listen and give the secret it prints to the person at the other side.
    """
    from advisor.agent.listen import serve_stdio, serve_tls

    if options["stdio"] == bool(options["listen"]):
        raise click.UsageError("give either --stdio or --listen ADDRESS:PORT")
    if options["stdio"] and options["files"]:
        raise click.UsageError("--files is for --listen: over ssh all files of the user are open")
    ports = options["ports"] or (0, 0)
    if options["stdio"]:
        asyncio.run(serve_stdio(ports))
        return 0
    address, port = options["listen"]
    folders = [folder.absolute() for folder in options["files"]]
    secret, told = _secret(options["secret_file"])

    def listening(bound: int) -> None:
        click.echo(f"listening on {address}:{bound}", err=True)
        if told:
            click.echo("secret, shown this once; it goes into a file for --secret-file:", err=True)
            click.echo(secret)
            sys.stdout.flush()

    try:
        asyncio.run(serve_tls(address, port, secret, ports, folders, listening))
    except OSError as error:
        raise click.ClickException(
            f"--listen {address}:{port}: {error.strerror}: choose another address or port"
        ) from None
    return 0


def _secret(path: Path | None) -> tuple[str, bool]:
    """The secret, and whether it is to be shown: a new one is, one that was kept is not."""
    if path is None:
        return new_secret(), True
    try:
        if path.exists():
            return read_secret(path), False
        secret = new_secret()
        write_secret(path, secret)
    except BadSecret as error:
        raise click.UsageError(f"--secret-file {path} {error}") from None
    except OSError as error:
        raise click.UsageError(f"--secret-file {path}: {error.strerror}") from None
    return secret, True
