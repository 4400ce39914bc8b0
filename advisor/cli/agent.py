"""`advisor agent`: runs at the far end."""

import asyncio
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from advisor.agent.secret import BadSecret, new_secret, read_secret, write_secret
from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.report.output import say


@command()
def agent(
    *,
    stdio: Annotated[
        bool,
        typer.Option(
            "--stdio",
            help="Serve on standard input and output; this is how ssh starts it.",
        ),
    ] = False,
    listen: Annotated[
        p.HostPort | None,
        typer.Option("--listen", **p.LISTEN, help="Serve on this address and port, over TLS."),
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(
            "--secret-file",
            dir_okay=False,
            metavar="FILE",
            help="The file that keeps the secret: made if it is missing, used again at each start.",
        ),
    ] = None,
    ports: Annotated[
        p.Ports | None,
        typer.Option(
            "--ports",
            **p.PORTS,
            envvar="GLOBUS_TCP_PORT_RANGE",
            show_default="any",
            help="Ports that the agent may open for data.",
        ),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--files",
            file_okay=False,
            metavar="FOLDER",
            show_default="none",
            help="With --listen: a folder whose files remote advisors may measure, check and "
            "write. Can be repeated.",
        ),
    ] = None,
) -> int:
    """Run the agent that a remote advisor connects to.

    A remote advisor starts it by itself over ssh. Where there is no ssh between the hosts, start it
    by hand with --listen and give the secret it prints to the person at the other host.
    """
    if stdio == bool(listen):
        raise UsageError("give either --stdio or --listen ADDRESS:PORT")
    if stdio and files:
        raise UsageError("--files is for --listen: over ssh all files of the user are open")
    allowed = ports or (0, 0)
    if listen is None:
        from advisor.agent.stdio import NoChannel, serve_stdio

        try:
            asyncio.run(serve_stdio(allowed))
        except NoChannel as error:
            raise UsageError.about("", error) from None
        return 0
    from advisor.agent.listen import serve_tls

    address, port = listen
    folders = _folders(files or ())
    secret, is_new = _secret(secret_file)

    def listening(bound: int) -> None:
        say(f"listening on {address}:{bound}", err=True)
        if is_new:
            say("secret, shown this once; it goes into a file for --secret-file:", err=True)
            say(secret)
            sys.stdout.flush()

    def report(line: str) -> None:
        say(line, err=True)

    try:
        asyncio.run(serve_tls(address, port, secret, allowed, folders, listening, report))
    except OSError as error:
        raise CommandFailed(
            f"--listen {address}:{port}: {error.strerror}", remedy="choose another address or port"
        ) from None
    return 0


def _folders(files: Collection[Path]) -> list[Path]:
    for folder in files:
        if not folder.is_dir():
            raise UsageError(f"--files {folder}: there is no such folder", remedy="make it first")
    return [folder.absolute() for folder in files]


def _secret(path: Path | None) -> tuple[str, bool]:
    """The secret, and whether to print it: a new one is printed, one from a file is not."""
    if path is None:
        return new_secret(), True
    try:
        if path.exists():
            return read_secret(path), False
        secret = new_secret()
        write_secret(path, secret)
    except BadSecret as error:
        raise UsageError.about("", error) from None
    except OSError as error:
        raise UsageError(f"--secret-file {path}: {error.strerror}") from None
    return secret, True
