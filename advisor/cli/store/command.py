"""`advisor store`: where the history is kept."""

from typing import Annotated

import typer

from advisor.cli.commands import command, group
from advisor.cli.errors import UsageError
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import tell_notices
from advisor.report.output import say
from advisor.store.backend import Backend
from advisor.store.completeness import in_full
from advisor.store.copying import copy_history
from advisor.store.errors import StoreError
from advisor.store.opening import open_backend, open_shared, require_client, require_history
from advisor.store.postgres.address import Address, is_address
from advisor.store.postgres.rows import Takes

_LIMIT_S = 120.0
"""Who copies or sets up waits; only advice does not."""


@group()
def store() -> None:
    """Set up a history that several share in PostgreSQL, and copy and send records to it.

    \b
    advisor store init postgresql://db.example.org/advisor
    advisor store copy /data/advisor/history postgresql://db.example.org/advisor
    advisor store send
    """


@command()
def init(
    address: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="The database, as in postgresql://HOST/DATABASE."),
    ],
) -> None:
    """Set up a shared history in the database at ADDRESS, or bring an older one up to date.

    The database must exist; its owner runs this, or an account that may create roles and schemas.
    It makes the roles advisor_reader, advisor_writer and advisor_operator, which are then granted
    to the accounts of users. It may be repeated.
    """
    with store_errors():
        named = _address(address)
        require_client()
        from advisor.fleet.work import queue
        from advisor.store.postgres.setting_up import set_up_database

        missing = set_up_database(named, queue.set_up)
    if missing:
        say(f"Set up: schema {missing[-1]}.")
    else:
        say("Nothing to do: the schema is up to date.")


def _address(text: str) -> Address:
    if not is_address(text):
        raise UsageError(
            f"ADDRESS: '{text}' is no database", remedy="write postgresql://HOST/DATABASE"
        )
    return Address.parse(text)


@command()
def copy(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="The folder or address of a history.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="The folder or address of another history.")
    ],
    *,
    restore: Annotated[
        bool,
        typer.Option(
            "--restore",
            help="Take requests and command lines of other users too, if you trust all of them.",
        ),
    ] = False,
) -> None:
    """Add to the history TO every record that the history FROM has and it has not.

    Both directions work, folder to database and back. Copying again adds nothing, so an interrupted
    copy is repeated. Exit code 1 if a database was not always reached: then some records may be
    missing. Requests and advice of other users are left out, as of an imported file. Notes
    copied from a database keep their author; notes copied into one get the copying account as
    author.
    """
    try:
        require_history(source)
    except StoreError as error:
        raise UsageError.about("FROM", error) from None
    with store_errors():
        takes: Takes = "everything" if restore else "without requests"
        copied, into = _opened(source, takes), _opened(target, "everything")
        with in_full(copied, "the copy"):
            done, added = copy_history(copied, into)
            for one in (copied, into):
                tell_notices(one.notices)
            say(f"Copied {added} of {done} records; the others were there.")


def _opened(text: str, takes: Takes) -> Backend:
    return open_shared(text, _LIMIT_S, takes) if is_address(text) else open_backend(text)


@command()
def send() -> None:
    """Send the records that wait on this host for a shared history that could not be reached.

    Every session that stores something there sends them, too. Exit code 1 if some still wait.
    """
    from advisor.store.postgres.spool import spools

    status = 0
    with store_errors():
        found = [open_shared(spool.address.uri, _LIMIT_S) for spool in spools()]
    for backend in found:
        try:
            sent = backend.send_waiting()
        except StoreError as error:
            say(f"advisor: {error}", err=True)
            status = 1
        else:
            say(f"{backend.address}: sent {sent.added}, {sent.waiting} wait.")
            status = status or int(sent.waiting > 0)
        tell_notices(backend.notices)
    if not found:
        say("Nothing waits.")
    if status:
        raise typer.Exit(status)


for _command in (init, copy, send):
    store.add_command(_command)
