"""`advisor history advice`: a stored advice as a file for whoever runs it."""

import sys
from typing import Annotated, Literal, get_args

import typer

from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.files import output_errors
from advisor.cli.history.lookup import resolve_pair, store_errors
from advisor.cli.options import OutputOption, StoredOption
from advisor.domain.advice import Side
from advisor.domain.events import PathFound
from advisor.domain.path import PathFacts
from advisor.domain.records import AdviceRecord
from advisor.report.output import say
from advisor.store.history import Store
from advisor.store.remarks import visible

FormatName = Literal["shell", "markdown", "json", "html", "slurm", "sysctl.d", "ansible"]


@command("advice")
def advice_(
    pair: Annotated[
        str,
        typer.Argument(metavar="PAIR", help="'SOURCE->DESTINATION', or its destination alone."),
    ],
    *,
    store: StoredOption,
    format_name: Annotated[
        FormatName | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            show_default="text",
            help=f"The format of the output: {', '.join(get_args(FormatName))}.",
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="SESSION",
            show_default="the last",
            help="The session that gave it, by its name or the beginning of it.",
        ),
    ] = None,
    side: Annotated[
        Side, typer.Option("--side", help="The host that --format sysctl.d is meant for.")
    ] = "source",
    output: OutputOption = None,
) -> None:
    """Print the last advice for PAIR, to be read or to be run elsewhere. Nothing is applied.

    shell is a script with its lines, slurm the same as a job for the source. sysctl.d has the
    kernel settings that the host does not have yet, with its present values and what takes them
    back; ansible is a playbook that does both on both hosts. markdown, html and json have the whole
    advice.
    """
    from advisor.report.advice_formats import FORMATS, encoded, exported
    from advisor.report.text import advice_text

    with store_errors():
        found = resolve_pair(store, pair)
        records = visible(store.records(found))
        record = _chosen([r for r in records if isinstance(r, AdviceRecord)], session, str(found))
        path = _path(store, record)
    if format_name is None:
        text = advice_text(record.advice) + "\n"
    else:
        what = exported(records, record.advice, record.recorded_s, path=path, side=side)
        try:
            text = FORMATS[format_name].text(what)
        except ValueError as error:
            raise CommandFailed(f"--format {format_name}: {error}") from None
    if output is not None:
        with output_errors(output):
            output.write_bytes(encoded(text))
    elif sys.stdout.isatty():
        say(text.removesuffix("\n"))
    else:
        # Into a pipe or file as it is, a path that is not UTF-8 included.
        sys.stdout.flush()
        sys.stdout.buffer.write(encoded(text))
        sys.stdout.buffer.flush()


def _chosen(given: list[AdviceRecord], session: str | None, pair: str) -> AdviceRecord:
    """The newest, or the newest of the session. Raises CommandFailed without one, UsageError."""
    if not given:
        raise CommandFailed(f"there is no advice for {pair}", remedy="`advisor advise` gives one")
    wanted = [one for one in given if one.advice.session.startswith(session or "")]
    named = dict.fromkeys(one.advice.session for one in wanted)
    if not named:
        raise UsageError(
            f"--session {session}: no advice for {pair} is of such a session",
            remedy="`advisor history sessions` lists them",
        )
    if session and session not in named and len(named) > 1:
        raise UsageError(
            f"--session {session}: {len(named)} sessions begin with it",
            remedy=f"write more of one of {', '.join(list(named)[-5:])}",
        )
    of_it = [one for one in wanted if session not in named or one.advice.session == session]
    return max(of_it, key=lambda one: one.recorded_s)


def _path(store: Store, record: AdviceRecord) -> PathFacts | None:
    """What the session found out about the path; None where its events are not kept."""
    events = store.events(record.pair, record.advice.session)
    return next((one.path for one in events if isinstance(one, PathFound)), None)
