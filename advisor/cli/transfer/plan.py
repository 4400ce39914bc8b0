"""`advisor plan`: plans how to move a dataset class by class, and with --run moves it."""

import secrets
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from platformdirs import user_state_path

from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.options import (
    FILES,
    SEARCH,
    EventsAsJson,
    StoreOption,
    max_concurrency_option,
    seed_option,
)
from advisor.cli.terminal import stdout_columns
from advisor.cli.transfer.delivery import DeliveryFlags, ListingFlags, check_unused, delivery_of
from advisor.cli.transfer.moving import MovingOptions, moving_request, run_moving
from advisor.cli.transfer.options import (
    MaxStreamsOption,
    RelaxationOption,
    RunOption,
    ToolOption,
    check_tool,
)
from advisor.domain import events as ev
from advisor.domain.plan import TransferPlan
from advisor.domain.quantities import format_bytes
from advisor.models.harp.optimum import RELAXATION
from advisor.models.planning import HARPS_CHANNELS, PAPERS_CHANNELS, Rule
from advisor.report.output import say
from advisor.report.plan import COLUMNS, lines_text, plan_rows, reasons_text
from advisor.report.plan_narration import PlanNarration
from advisor.report.tables import print_table
from advisor.report.transfer import ended_lines
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.transfer.planned.lines import SCRIPT
from advisor.transfer.planned.transfer import PlanOptions, plan_transfer

_STREAMS: Final = 32


@command()
def plan(
    context: typer.Context,
    moving: MovingOptions,
    listing: ListingFlags,
    delivery: DeliveryFlags,
    *,
    store: StoreOption,
    tool: ToolOption = None,
    method: Annotated[
        Rule,
        typer.Option(
            "--method",
            metavar="RULE",
            help=f"{', '.join(Rule)}: {Rule.HARP} learns from past transfers, the others are rules "
            "of thumb.",
            rich_help_panel=SEARCH,
        ),
    ] = Rule.HARP,
    run: RunOption = False,
    sample: Annotated[
        bool | None,
        typer.Option(
            "--sample/--no-sample",
            show_default="where it can be expected to pay off",
            help="With --run: move a short sample of each class first.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    online_tuning: Annotated[
        bool,
        typer.Option(
            "--online-tuning/--no-online-tuning",
            help=f"With --run and {Rule.HARP}: change a class's setting when four epochs in a row "
            "show another load.",
            rich_help_panel=SEARCH,
        ),
    ] = True,
    max_concurrency: Annotated[
        int | None,
        max_concurrency_option(
            note=f"; for {Rule.PROMC} in all classes together",
            show_default=f"{HARPS_CHANNELS} for {Rule.HARP}, else {PAPERS_CHANNELS}",
        ),
    ] = None,
    max_streams: MaxStreamsOption = _STREAMS,
    relaxation: RelaxationOption = RELAXATION,
    lists: Annotated[
        Path | None,
        typer.Option(
            "--lists",
            file_okay=False,
            metavar="DIR",
            show_default="a new one of advisor's own",
            help="Folder for the lists of files, and for a script with the lines to run.",
            rich_help_panel=FILES,
        ),
    ] = None,
    seed: Annotated[int, seed_option()] = 0,
    as_json: EventsAsJson = False,
) -> int:
    """Plan how the files in DATA are best moved to DESTINATION, and with --run move them.

    \b
    advisor plan /data/run42 dtn02 --to /store/run42
    advisor plan /data/run42 dtn02 --to /store/run42 --run

    The files are divided into classes by size. For each class, similar past transfers show how many
    concurrent files and streams for each are best (HARP, Arslan et al. 2018); then all
    classes are moved together. Without --run the path is checked and nothing is moved.
    """
    if sample is not None and not run:
        raise UsageError("--sample and --no-sample are about --run", remedy="give that too")
    if not run:
        check_unused(delivery)
    check_tool(tool)
    request = moving_request(
        context,
        moving,
        listing,
        tool=tool or "",
        max_concurrency=max_concurrency or method.channels,
        max_streams=max_streams,
        seed=seed,
    )
    folder = lists or user_state_path("advisor") / "plans" / secrets.token_hex(4)
    wanted = PlanOptions(
        rule=method,
        run=run,
        sample=sample,
        online=online_tuning,
        relaxation=relaxation,
        lists=folder.absolute(),
        delivery_options=delivery_of(delivery),
    )

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        return plan_transfer(request, wanted, store=store, publish=publish, control=control)

    def as_text(event: ev.AnyEvent) -> None:
        _as_text(event)
        if isinstance(event, ev.PlanMade) and not wanted.run:
            _print_lines(event.plan, wanted.lists)

    status = run_moving(session, PlanNarration, as_text, as_json=as_json)
    lab = request.destination.lab_host
    if lab and status == 0 and not as_json and not wanted.run:
        say(f"Run it inside the lab: advisor lab exec {lab.lab} -- …", err=True)
    return status


def _as_text(event: ev.AnyEvent) -> None:
    match event:
        case ev.PlanMade():
            _print_plan(event.plan, final=event.final)
        case ev.TransferEnded():
            say("\n".join(ended_lines(event)))
        case ev.GaveUp():
            say(f"advisor: {event.message}", err=True)


def _print_plan(plan: TransferPlan, *, final: bool) -> None:
    files = sum(one.files for one in plan.classes)
    total = format_bytes(sum(one.total_bytes for one in plan.classes))
    state = "" if final else ", before the samples"
    say(f"Plan for {files} files, {total}: {plan.method}, {plan.order}{state}")
    print_table(COLUMNS, plan_rows(plan))
    say(f"\n{reasons_text(plan, stdout_columns())}")


def _print_lines(plan: TransferPlan, lists: Path) -> None:
    say(f"\n{lines_text(plan)}")
    say(f"\nThe lists of files, and all lines in a script: {lists / SCRIPT}")
