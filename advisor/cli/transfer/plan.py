"""`advisor plan`: how a dataset is best moved, class by class, and with --run it is moved so."""

import secrets
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final

import click
from platformdirs import user_state_path

from advisor.cli.connection import with_those_of_the_host
from advisor.cli.options import store_option
from advisor.cli.terminal import stdout_columns
from advisor.cli.transfer.moving import (
    kept_of,
    moving_options,
    moving_request,
    run_moving,
    with_urls,
)
from advisor.domain import events as ev
from advisor.domain.plan import TransferPlan
from advisor.domain.quantities import format_bytes
from advisor.models.planning import PAPERS_CHANNELS, Rule
from advisor.report.plan import COLUMNS, lines_text, plan_rows, reasons_text
from advisor.report.plan_narration import PlanNarration
from advisor.report.tables import print_table
from advisor.report.transfer import ended_lines
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.transfer.planned.lines import SCRIPT
from advisor.transfer.planned.transfer import PlanOptions, plan_transfer

_STREAMS: Final = 32


@click.command()
@moving_options
@click.option(
    "--method",
    type=click.Choice([rule.value for rule in Rule]),
    default=Rule.HARP.value,
    show_default=True,
    help="Whose rules: harp learns from past transfers, the others are rules of thumb.",
)
@click.option("--run", "run", is_flag=True, help="Move the files, with progress for each class.")
@click.option(
    "--sample/--no-sample",
    default=None,
    help="With --run: a short sample of each class first. [where it can be expected to pay off]",
)
@click.option(
    "--anew",
    "anew",
    is_flag=True,
    help="With --run: move everything, whatever an earlier run has moved already.",
)
@click.option(
    "--max-concurrency",
    type=click.IntRange(1, 128),
    default=PAPERS_CHANNELS,
    show_default=True,
    help="Files at a time at most, over all classes for promc.",
)
@click.option(
    "--max-streams",
    type=click.IntRange(1, 128),
    default=_STREAMS,
    show_default=True,
    help="Streams for each file at most.",
)
@click.option(
    "--relaxation",
    type=click.FloatRange(0.1, 1.0),
    default=1.0,
    show_default=True,
    help="harp: share of the rate that fewer files at a time, and fewer streams, must each keep; "
    "0.7 in its paper.",
)
@click.option(
    "--lists",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the lists of files and a script of the lines. [a new one of advisor's own]",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Repeats the fits.")
@click.option("--json", "as_json", is_flag=True, help="Events as lines of JSON.")
@store_option
@click.pass_context
def plan(context: click.Context, /, **options: Any) -> int:
    """Plan how the files in DATA are best moved to DESTINATION, and with --run move them.

    \b
    advisor plan /data/run42 dtn02 --to /store/run42
    advisor plan /data/run42 dtn02 --to /store/run42 --run

    Files are parted by size. For each class past transfers that are alike say how many files at a
    time over how many streams are best (HARP, Arslan et al. 2018); then all classes are moved
    together. Without --run nothing is sent but a look at the path.
    """
    options = with_those_of_the_host(context, with_urls(options))
    if options["sample"] is not None and not options["run"]:
        raise click.UsageError("--sample and --no-sample are about --run: give that too")
    if options["anew"] and not options["run"]:
        raise click.UsageError("--anew is about --run: give that too")
    request = moving_request(
        options,
        max_concurrency=options["max_concurrency"],
        max_streams=options["max_streams"],
        seed=options["seed"],
    )
    lists = options["lists"] or user_state_path("advisor") / "plans" / secrets.token_hex(4)
    wanted = PlanOptions(
        rule=Rule(options["method"]),
        run=options["run"],
        sample=options["sample"],
        relaxation=options["relaxation"],
        lists=lists.absolute(),
        journal_options=kept_of(options),
    )

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        return plan_transfer(
            request, wanted, store=options["store"], publish=publish, control=control
        )

    def as_text(event: ev.AnyEvent) -> None:
        _as_text(event)
        if isinstance(event, ev.PlanMade) and not wanted.run:
            _print_lines(event.plan, wanted.lists)

    status = run_moving(session, PlanNarration, as_text, as_json=options["as_json"])
    lab = request.destination.lab_host
    if lab and status == 0 and not options["as_json"] and not wanted.run:
        click.echo(f"Run it inside the lab: advisor lab exec {lab.lab} -- …", err=True)
    return status


def _as_text(event: ev.AnyEvent) -> None:
    match event:
        case ev.PlanMade():
            _print_plan(event.plan, final=event.final)
        case ev.TransferEnded():
            click.echo("\n".join(ended_lines(event)))
        case ev.GaveUp():
            click.echo(f"advisor: {event.message}", err=True)


def _print_plan(plan: TransferPlan, *, final: bool) -> None:
    files = sum(one.files for one in plan.classes)
    total = format_bytes(sum(one.total_bytes for one in plan.classes))
    state = "" if final else ", before the samples"
    click.echo(f"Plan for {files} files, {total}: {plan.method}, {plan.order}{state}")
    print_table(COLUMNS, plan_rows(plan))
    click.echo(f"\n{reasons_text(plan, stdout_columns())}")


def _print_lines(plan: TransferPlan, lists: Path) -> None:
    click.echo(f"\n{lines_text(plan)}")
    click.echo(f"\nThe lists of files, and all lines in a script: {lists / SCRIPT}")
