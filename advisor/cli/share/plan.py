"""`advisor share plan`: concurrencies that give each destination its request."""

from collections.abc import Coroutine, Sequence
from typing import Annotated, Any

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options, command
from advisor.cli.errors import UsageError
from advisor.cli.options import FILES, LIMITS, EventsAsJson, OrdersOption, StoreOption
from advisor.cli.share.requests import (
    DESTINATIONS,
    AllReachOptions,
    EstimateOption,
    MeasuredToolOption,
    ModelOptions,
    ServersOption,
    StreamsOption,
    Wanted,
    modelling_of,
    of_each,
    parse_wanted,
    requests_for,
    with_datasets,
)
from advisor.cli.terminal import stdout_columns
from advisor.cli.transfer.delivery import (
    DeliveryFlags,
    ListingFlags,
    check_unused,
    delivery_of,
    rules_of,
)
from advisor.cli.transfer.moving import run_moving
from advisor.cli.transfer.options import RetryTimeOption, RunOption
from advisor.domain import events as ev
from advisor.domain.endpoints import LabHost
from advisor.domain.shares import Asked, SharePlan
from advisor.models.shares.forecast import DEFAULT
from advisor.models.shares.planning import NotToBeShared, check
from advisor.report.output import say
from advisor.report.share_narration import ShareNarration
from advisor.report.share_plan import COLUMNS, headline, lines_text, plan_rows, remarks_text
from advisor.report.share_run import COLUMNS as OUTCOME_COLUMNS
from advisor.report.share_run import outcome_rows
from advisor.report.tables import print_table
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.request import ShareRequest
from advisor.transfer.engine.retry import RETRY_S
from advisor.transfer.shared.epochs import EPOCH_S
from advisor.transfer.shared.parsing import with_cap
from advisor.transfer.shared.sharing import ShareOptions, share_transfers
from advisor.transfer.tuned.parsing import parse_epoch


class RunOptions(Options, frozen=True):
    """How the files are moved with --run."""

    run: RunOption = False
    epoch: Annotated[
        float,
        typer.Option(
            "--epoch",
            parser=p.parsed(parse_epoch),
            metavar="TIME",
            show_default=f"{EPOCH_S:g}s",
            help="Time between two corrections with --run. In shorter ones the rates of a "
            "destination differ more by chance.",
            rich_help_panel=LIMITS,
        ),
    ] = EPOCH_S
    retry_time: RetryTimeOption = RETRY_S
    orders: OrdersOption = False


class PlaceOptions(Options, frozen=True):
    """What is moved where, with which limits."""

    most: Annotated[
        list[str] | None,
        typer.Option(
            "--most",
            metavar="[DEST=]CAP",
            help="A limit: most concurrent files, or most rate, as in kraken=8 and "
            "kraken=300Mbit. Can be repeated.",
            rich_help_panel=LIMITS,
        ),
    ] = None
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="[DEST=]PATH",
            help="What is moved: a file or folder. Can be repeated.",
            rich_help_panel=FILES,
        ),
    ] = None
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="[DEST=]PATH",
            help="Where it goes at the destinations; %h is the name of each. Can be repeated.",
            rich_help_panel=FILES,
        ),
    ] = None


@command()
def plan(
    for_all: AllReachOptions,
    models: ModelOptions,
    running: RunOptions,
    places: PlaceOptions,
    listing: ListingFlags,
    delivery: DeliveryFlags,
    *,
    store: StoreOption,
    wanted: Annotated[
        list[Wanted],
        typer.Argument(
            parser=p.parsed(parse_wanted),
            metavar="DESTINATION[=ASKED]…",
            help="The destinations, each with what is asked for it.",
            **DESTINATIONS,
        ),
    ],
    streams: StreamsOption = None,
    tool: MeasuredToolOption = None,
    server: ServersOption = None,
    estimate: EstimateOption = DEFAULT.estimate,
    as_json: EventsAsJson = False,
) -> int:
    """Plan how many concurrent files give each DESTINATION what is ASKED; --run moves them.

    \b
    advisor share plan kraken=4 mason=5 blacklight=6
    advisor share plan kraken=400Mbit mason=x1.5 blacklight=@3 --most kraken=8
    advisor share plan kraken=1 mason=2 --data /data/run42 --to /store/run42 --run

    \b
    kraken=4        a share of 4, relative to the shares of the others
    kraken=400Mbit  a rate
    kraken=x1.5     this multiple of its rate when all have 2 concurrent files,
                    which --run measures in its first epoch
    kraken=@3       3 concurrent files, whatever the rate
    kraken          2 concurrent files

    The models are those of `advisor share train`. With --run the files go to all of them at once.
    After each epoch the numbers of files are corrected where what arrived shows beyond doubt that
    it brings the rates nearer to what is asked.
    """
    _check(running, delivery)
    requests = requests_for(wanted, places.to or [], for_all, server or [], tool)
    caps = of_each("--most", places.most or [], wanted)
    asked = {
        request.destination_host: _asked(one, caps[one.name])
        for request, one in zip(requests, wanted, strict=True)
    }
    try:
        check(asked)
    except NotToBeShared as error:
        raise UsageError.about("", error) from None
    requests = with_datasets(requests, wanted, places.data or [], rules_of(listing))
    if running.run:
        _check_run(requests)
    sharing = ShareOptions(
        asked=asked,
        delivery_options=delivery_of(delivery),
        parallelism=streams,
        tool=tool,
        modelling=modelling_of(models, estimate),
        run=running.run,
        epoch_s=running.epoch,
        retry_s=running.retry_time,
    )

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        return share_transfers(requests, sharing, store=store, publish=publish, control=control)

    def as_text(event: ev.AnyEvent) -> None:
        _as_text(event)
        if isinstance(event, ev.SharesPlanned) and not sharing.run:
            _print_lines(event.plan, wanted[0].endpoint.lab_host)

    return run_moving(
        session,
        ShareNarration,
        as_text,
        as_json=as_json,
        orders=running.orders,
    )


def _check(options: RunOptions, delivery: DeliveryFlags) -> None:
    if delivery.receipt:
        raise UsageError(
            "--receipt names one file",
            remedy="leave it out: there is a receipt for each destination",
        )
    if options.run:
        return
    check_unused(delivery)
    if options.orders:
        raise UsageError("--orders is about --run", remedy="give that too")


def _asked(one: Wanted, caps: Sequence[str]) -> Asked:
    asked = one.asked
    for cap in caps:
        try:
            asked = with_cap(asked, cap)
        except ValueError as error:
            raise UsageError.about(f"--most {one.name}={cap}", error) from None
    return asked


def _check_run(requests: Sequence[ShareRequest]) -> None:
    for one in requests:
        if one.dataset is None:
            raise UsageError(
                "--run needs --data", remedy=f"say what goes to {one.destination_host}"
            )
        if not one.destination_path:
            raise UsageError(
                "--run needs --to", remedy=f"name the folder on {one.destination_host}"
            )


def _as_text(event: ev.AnyEvent) -> None:
    match event:
        case ev.SharesPlanned():
            say(headline(event.plan))
            print_table(COLUMNS, plan_rows(event.plan))
            say(f"\n{remarks_text(event.plan, stdout_columns())}")
        case ev.SharesEnded():
            say(event.message)
            if event.rows:
                print_table(OUTCOME_COLUMNS, outcome_rows(event.rows))
        case ev.GaveUp():
            say(f"advisor: {event.message}", err=True)


def _print_lines(plan: SharePlan, lab: LabHost | None) -> None:
    if lines := lines_text(plan, stdout_columns()):
        say(f"\n{lines}")
        if lab:
            say(f"Run them inside the lab: advisor lab exec {lab.lab} -- …", err=True)
