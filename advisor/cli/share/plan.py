"""`advisor share plan`: concurrencies that give each destination what is asked for it."""

from collections.abc import Coroutine, Sequence
from typing import Any

import click

from advisor.cli import parameters as p
from advisor.cli.completion import destinations
from advisor.cli.options import store_option
from advisor.cli.share.requests import (
    Wanted,
    all_reach_options,
    estimate_option,
    model_options,
    modelling_of,
    of_each,
    parse_wanted,
    requests_for,
    streams_option,
    with_datasets,
)
from advisor.cli.terminal import stdout_columns
from advisor.cli.transfer.moving import kept_of, run_moving
from advisor.domain import events as ev
from advisor.domain.endpoints import LabHost
from advisor.domain.shares import Asked, SharePlan
from advisor.models.shares.planning import NotToBeShared, check
from advisor.report.share_narration import ShareNarration
from advisor.report.share_plan import COLUMNS, headline, lines_text, plan_rows, remarks_text
from advisor.report.share_run import COLUMNS as OUTCOME_COLUMNS
from advisor.report.share_run import outcome_rows
from advisor.report.tables import print_table
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.request import ShareRequest
from advisor.transfer.engine.retry import RETRY_S
from advisor.transfer.shared.parsing import with_cap
from advisor.transfer.shared.sharing import EPOCH_S, ShareOptions, share_transfers
from advisor.transfer.tuned.parsing import parse_epoch


@click.command()
@click.argument(
    "wanted",
    metavar="DESTINATION[=ASKED]...",
    type=p.Parsed("DESTINATION[=ASKED]", parse_wanted),
    nargs=-1,
    required=True,
    shell_complete=destinations,
)
@click.option(
    "--most",
    multiple=True,
    metavar="[DEST=]CAP",
    help="Files at a time at most, or what it is held to, as in kraken=8, kraken=300Mbit.",
)
@click.option(
    "--data", multiple=True, metavar="[DEST=]PATH", help="What is moved: a file or folder."
)
@click.option(
    "--to",
    "to",
    multiple=True,
    metavar="[DEST=]PATH",
    help="Where it goes at the destinations; %h is the name of each.",
)
@streams_option
@model_options
@estimate_option
@click.option("--run", "run", is_flag=True, help="Move the files, and keep the shares meanwhile.")
@click.option(
    "--epoch",
    type=p.Parsed("time", parse_epoch),
    default=f"{EPOCH_S:g}s",
    show_default=True,
    help="With --run: time between two corrections.",
)
@click.option(
    "--patience",
    type=p.DURATION,
    default=f"{RETRY_S / 60:g}min",
    show_default=True,
    help="With --run: how long a path may be lost before its destination is given up.",
)
@click.option(
    "--anew", is_flag=True, help="With --run: move everything, whatever an earlier run has moved."
)
@all_reach_options
@click.option("--json", "as_json", is_flag=True, help="Events as lines of JSON.")
@click.option("--orders", is_flag=True, help="Read orders from standard input, as lines of JSON.")
@store_option
@click.pass_context
def plan(context: click.Context, /, **options: Any) -> int:
    """Plan how many files at a time give each DESTINATION what is ASKED, and with --run move them.

    \b
    advisor share plan kraken=4 mason=5 blacklight=6
    advisor share plan kraken=400Mbit mason=x1.5 blacklight=@3 --most kraken=8
    advisor share plan kraken=1 mason=2 --data /data/run42 --to /store/run42 --run

    \b
    kraken=4        a share of 4, beside the shares of the others
    kraken=400Mbit  a rate
    kraken=x1.5     that much of what it gets where all have 2 files at a time
    kraken=@3       3 files at a time, whatever they give
    kraken          2 files at a time

    The models are those of `advisor share train`. With --run the files go to all of them at once,
    and after each epoch files at a time are corrected by what arrived.
    """
    wanted = options["wanted"]
    _check(options)
    requests = requests_for(context, wanted, options)
    caps = of_each("--most", options["most"], wanted)
    asked = {
        request.destination_host: _asked(one, caps[one.name])
        for request, one in zip(requests, wanted, strict=True)
    }
    try:
        check(asked)
    except NotToBeShared as error:
        raise click.UsageError(str(error)) from None
    requests = with_datasets(requests, wanted, options["data"])
    if options["run"]:
        _check_run(requests)
    sharing = ShareOptions(
        asked=asked,
        journal_options=kept_of(options),
        parallelism=options["streams"],
        modelling=modelling_of(options),
        run=options["run"],
        epoch_s=options["epoch"],
        retry_s=options["patience"],
    )

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        return share_transfers(
            requests, sharing, store=options["store"], publish=publish, control=control
        )

    def as_text(event: ev.AnyEvent) -> None:
        _as_text(event)
        if isinstance(event, ev.SharesPlanned) and not sharing.run:
            _print_lines(event.plan, wanted[0].endpoint.lab_host)

    return run_moving(
        session,
        ShareNarration,
        as_text,
        as_json=options["as_json"],
        orders=options["orders"],
    )


def _check(options: dict[str, Any]) -> None:
    for name in ("anew", "orders"):
        if options[name] and not options["run"]:
            raise click.UsageError(f"--{name} is about --run: give that too")


def _asked(one: Wanted, caps: Sequence[str]) -> Asked:
    asked = one.asked
    for cap in caps:
        try:
            asked = with_cap(asked, cap)
        except ValueError as error:
            raise click.UsageError(f"--most {one.name}={cap}: {error}") from None
    return asked


def _check_run(requests: Sequence[ShareRequest]) -> None:
    for one in requests:
        if one.dataset is None:
            raise click.UsageError(f"--run needs --data: say what goes to {one.destination_host}")
        if not one.destination_path:
            raise click.UsageError(f"--run needs --to: say where it goes on {one.destination_host}")


def _as_text(event: ev.AnyEvent) -> None:
    match event:
        case ev.SharesPlanned():
            click.echo(headline(event.plan))
            print_table(COLUMNS, plan_rows(event.plan))
            click.echo(f"\n{remarks_text(event.plan, stdout_columns())}")
        case ev.SharesEnded():
            click.echo(event.message)
            if event.rows:
                print_table(OUTCOME_COLUMNS, outcome_rows(event.rows))
        case ev.GaveUp():
            click.echo(f"advisor: {event.message}", err=True)


def _print_lines(plan: SharePlan, lab: LabHost | None) -> None:
    if lines := lines_text(plan, stdout_columns()):
        click.echo(f"\n{lines}")
        if lab:
            click.echo(f"Run them inside the lab: advisor lab exec {lab.lab} -- …", err=True)
