"""`advisor transfer`: moves a dataset, at settings that are tuned while it runs."""

from collections.abc import Coroutine
from typing import Annotated, Any

import msgspec
import typer

from advisor import registry
from advisor.cli import parameters as p
from advisor.cli.commands import Options, command, is_typed
from advisor.cli.errors import UsageError
from advisor.cli.options import (
    FILES,
    LIMITS,
    SEARCH,
    EventsAsJson,
    OrdersOption,
    StoreOption,
    max_concurrency_option,
    seed_option,
)
from advisor.cli.transfer.delivery import DeliveryFlags, ListingFlags, delivery_of
from advisor.cli.transfer.moving import (
    MovingOptions,
    moving_request,
    run_moving,
    say_end,
)
from advisor.cli.transfer.nodes import NodeFlags, nodes_of, over_nodes
from advisor.cli.transfer.options import (
    MaxStreamsOption,
    RelaxationOption,
    RetryTimeOption,
    ToolOption,
    check_tool,
)
from advisor.domain.transfers import Levels
from advisor.models.harp.optimum import RELAXATION
from advisor.report.transfer_narration import TransferNarration
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.traits import default_method
from advisor.transfer.engine.retry import RETRY_S
from advisor.transfer.tuned.parsing import parse_epoch, parse_price, parse_start
from advisor.transfer.tuned.transfer import TransferOptions, transfer_tuned
from advisor.transfer.tuned.tuners import FIXED, MOST_STREAMS, why_no_price, why_no_streams


class TuningOptions(Options, frozen=True):
    """How the transfer is tuned."""

    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            show_default="the one for transfers, or for those with a price",
            help="The method that tunes it, one of `advisor plugins`, or fixed to keep the "
            "setting it starts with.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    epoch: Annotated[
        float | None,
        typer.Option(
            "--epoch",
            parser=p.parsed(parse_epoch),
            metavar="TIME",
            show_default="until the difference is decided, 8s at most",
            help="Length of a control epoch, after which the setting may change; the paper has "
            "30s.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    start: Annotated[
        Levels | None,
        typer.Option(
            "--start",
            parser=p.parsed(parse_start),
            metavar="CxP",
            show_default="what was advised, else by history or path, else 2x8",
            help="The setting to start with: concurrent files x streams for each.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    streams: Annotated[
        int | None,
        p.whole(
            "--streams",
            low=1,
            high=128,
            help="Keep this number of streams for each file, and tune the concurrent files alone.",
            show_default=False,
            rich_help_panel=SEARCH,
        ),
    ] = None
    price: Annotated[
        float | None,
        typer.Option(
            "--price",
            parser=p.parsed(parse_price),
            metavar="PERCENT",
            help="Each extra flow must gain more than this, as in 2%. With a price, two "
            "tuned transfers at one source share the link instead of raising their streams without "
            "limit.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    relaxation: RelaxationOption = RELAXATION
    restart_epochs: Annotated[
        bool,
        typer.Option(
            "--restart-epochs",
            help="Restart all clients at each epoch, as the tuners of the paper do; for "
            "comparisons.",
            rich_help_panel=SEARCH,
        ),
    ] = False
    seed: Annotated[int, seed_option()] = 0


class ToolChoice(Options, frozen=True):
    """What moves the files."""

    tool: ToolOption = None


class LimitOptions(Options, frozen=True):
    """What the transfer may take."""

    max_concurrency: Annotated[int, max_concurrency_option()] = 32
    max_streams: MaxStreamsOption = MOST_STREAMS
    max_flows: Annotated[
        int,
        p.whole(
            "--max-flows",
            low=1,
            high=128 * 128,
            help="Most streams in total: concurrent files × streams for each.",
            rich_help_panel=LIMITS,
        ),
    ] = 128
    max_rate: Annotated[
        float | None,
        typer.Option(
            "--max-rate",
            **p.RATE,
            help="Limit of the average rate of all streams together, as in 2Gbit.",
            rich_help_panel=LIMITS,
        ),
    ] = None
    nice: Annotated[
        int,
        p.whole(
            "--nice",
            low=0,
            high=19,
            help="Niceness of the clients' processes: the higher, the more they yield to others "
            "on this host.",
            rich_help_panel=LIMITS,
        ),
    ] = 0
    retry_time: RetryTimeOption = RETRY_S


@command()
def transfer(
    context: typer.Context,
    moving: MovingOptions,
    tuning: TuningOptions,
    limits: LimitOptions,
    listing: ListingFlags,
    delivery: DeliveryFlags,
    nodes: NodeFlags,
    choice: ToolChoice,
    *,
    store: StoreOption,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Compare checksums of all files at the end; both hosts read them.",
            rich_help_panel=FILES,
        ),
    ] = False,
    as_json: EventsAsJson = False,
    orders: OrdersOption = False,
) -> int:
    """Move the files in DATA to DESTINATION, and tune the transfer while it runs.

    \b
    advisor transfer /data/run42 dtn02 --to /store/run42
    advisor transfer file:///data/run42 gsiftp://dtn02/store/run42 \\
        --method compass --epoch 10s
    advisor transfer /data/run42 dtn21 --to /store/run42 \\
        --via dtn11=dtn21,dtn12=dtn22

    After each control epoch the method receives the throughput of the present setting, and chooses
    how many concurrent files and streams for each are next (Balaprakash et al. 2016). Running
    clients are not restarted: they finish their piece, and those that follow have the new setting.

    Every piece is read back at the destination and compared by checksum while the transfer runs; at
    the end there is a signed receipt. Exit code 0 means that everything in DATA is proven to be
    there. Run again after an interruption, the same command resumes the transfer.
    """
    method = tuning.method or default_method("priced transfer" if tuning.price else "transfer")
    _check_method(method)
    tuning = _of_use(context, tuning, method)
    _check(method, tuning, limits)
    check_tool(choice.tool)
    request = moving_request(
        context,
        moving,
        listing,
        method=method,
        tool=choice.tool or "",
        max_concurrency=limits.max_concurrency,
        max_streams=limits.max_streams,
        seed=tuning.seed,
    )
    wanted = TransferOptions(
        delivery_options=delivery_of(delivery),
        epoch_s=tuning.epoch,
        start=tuning.start,
        most_flows=limits.max_flows,
        streams=tuning.streams,
        price=tuning.price,
        relaxation=tuning.relaxation,
        restarts=tuning.restart_epochs,
        rate_limit_bps=limits.max_rate,
        niceness=limits.nice,
        verify=verify,
        retry_s=limits.retry_time,
    )

    over = nodes_of(nodes, request, store)

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        if over is not None:
            return over_nodes(request, wanted, over, store, publish, control)
        return transfer_tuned(request, wanted, store=store, publish=publish, control=control)

    return run_moving(session, TransferNarration, say_end, as_json=as_json, orders=orders)


def _check_method(method: str) -> None:
    if method != FIXED:
        try:
            registry.usable_method(method)
        except registry.PluginMissing as error:
            raise UsageError(f"--method: {error}, or {FIXED}") from None


def _of_use(context: typer.Context, tuning: TuningOptions, method: str) -> TuningOptions:
    """Without configured defaults that the method has no use for; what is typed is refused."""
    reasons = {"price": why_no_price(method), "streams": why_no_streams(method)}
    useless = [name for name, why in reasons.items() if why and not is_typed(context, name)]
    return msgspec.structs.replace(tuning, **dict.fromkeys(useless))


def _check(method: str, tuning: TuningOptions, limits: LimitOptions) -> None:
    if tuning.price and (reason := why_no_price(method)):
        raise UsageError(f"--method {reason}", remedy="leave out --price")
    start, streams = tuning.start, tuning.streams
    if streams is not None and streams > limits.max_flows:
        raise UsageError("--streams is more than --max-flows")
    if streams is not None and streams > limits.max_streams:
        raise UsageError("--streams is more than --max-streams")
    if start is not None:
        _check_start(start, streams, limits)


def _check_start(start: Levels, streams: int | None, limits: LimitOptions) -> None:
    if streams is not None and start.parallelism != streams:
        raise UsageError("--start has other streams than --streams")
    if start.concurrency > limits.max_concurrency:
        raise UsageError("--start has more concurrent files than --max-concurrency")
    if start.parallelism > limits.max_streams:
        raise UsageError("--start has more streams than --max-streams")
    if start.concurrency * start.parallelism > limits.max_flows:
        raise UsageError("--start has more streams in total than --max-flows")
