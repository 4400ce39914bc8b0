"""`advisor transfer`: moves a dataset, at settings that are tuned while it runs."""

from collections.abc import Coroutine
from typing import Any

import click

from advisor import registry
from advisor.cli import parameters as p
from advisor.cli.connection import with_those_of_the_host
from advisor.cli.options import store_option
from advisor.cli.transfer.moving import (
    kept_of,
    moving_options,
    moving_request,
    run_moving,
    say_end,
    with_urls,
)
from advisor.report.transfer_narration import TransferNarration
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.transfer.engine.retry import RETRY_S
from advisor.transfer.tuned.parsing import parse_epoch, parse_price, parse_start
from advisor.transfer.tuned.transfer import EPOCH_S, TransferOptions, transfer_tuned
from advisor.transfer.tuned.tuners import FIXED


@click.command()
@moving_options
@click.option(
    "--method",
    default="doubling",
    show_default=True,
    help="What tunes: any of `advisor plugins`, or fixed for a setting that stays.",
)
@click.option(
    "--epoch",
    type=p.Parsed("time", parse_epoch),
    default=f"{EPOCH_S:g}s",
    show_default=True,
    help="Time between two decisions.",
)
@click.option(
    "--start",
    type=p.Parsed("CxP", parse_start),
    help="Files at a time × streams for each to begin with. [what was advised, else 2x8]",
)
@click.option(
    "--max-concurrency",
    type=click.IntRange(1, 128),
    default=32,
    show_default=True,
    help="Files, and ranges of large ones, at a time at most.",
)
@click.option(
    "--max-streams",
    type=click.IntRange(1, 128),
    default=16,
    show_default=True,
    help="Streams for each at most.",
)
@click.option(
    "--max-flows",
    type=click.IntRange(1, 128 * 128),
    default=128,
    show_default=True,
    help="Streams in all at most: files at a time × streams for each.",
)
@click.option(
    "--price",
    type=p.Parsed("percent", parse_price),
    help="Price of one flow, as in 2%: a flow more has to bring more than that. Two transfers "
    "that are tuned at one source then settle instead of outdoing each other.",
)
@click.option(
    "--max-rate", type=p.RATE, help="What all together are held to on average, as in 2Gbit."
)
@click.option(
    "--nice",
    type=click.IntRange(0, 19),
    default=0,
    show_default=True,
    help="Niceness of the clients: they give way to others on this host's cores.",
)
@click.option(
    "--verify", is_flag=True, help="Compare checksums of all files at the end; both sides read."
)
@click.option(
    "--patience",
    type=p.DURATION,
    default=f"{RETRY_S / 60:g}min",
    show_default=True,
    help="How long the path may be lost before the transfer gives up.",
)
@click.option("--anew", is_flag=True, help="Move everything, whatever an earlier run has moved.")
@click.option(
    "--restart-epochs",
    is_flag=True,
    help="End all clients and begin anew each epoch, as the tuners of the paper: to compare.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Of the method.")
@click.option("--json", "as_json", is_flag=True, help="Events as lines of JSON.")
@click.option("--orders", is_flag=True, help="Read orders from standard input, as lines of JSON.")
@store_option
@click.pass_context
def transfer(context: click.Context, /, **options: Any) -> int:
    """Move the files in DATA to DESTINATION, and tune the transfer while it runs.

    \b
    advisor transfer /data/run42 dtn02 --to /store/run42
    advisor transfer file:///data/run42 gsiftp://dtn02/store/run42 --method compass --epoch 10s

    After each control epoch the method is told what the present setting gave, and says how many
    files at a time over how many streams are next (Balaprakash et al. 2016). Nothing is restarted
    for it: clients that run end their piece, those that follow have the new setting.

    Run again after it was broken off, the same command goes on from where it was.
    """
    options = with_those_of_the_host(context, with_urls(options))
    _check(options)
    request = moving_request(
        options,
        method=options["method"],
        max_concurrency=options["max_concurrency"],
        max_streams=options["max_streams"],
        seed=options["seed"],
    )
    wanted = TransferOptions(
        journal_options=kept_of(options),
        epoch_s=options["epoch"],
        start=options["start"],
        most_flows=options["max_flows"],
        price=options["price"],
        restarts=options["restart_epochs"],
        rate_limit_bps=options["max_rate"],
        niceness=options["nice"],
        verify=options["verify"],
        retry_s=options["patience"],
    )

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        return transfer_tuned(
            request, wanted, store=options["store"], publish=publish, control=control
        )

    return run_moving(
        session,
        TransferNarration,
        say_end,
        as_json=options["as_json"],
        orders=options["orders"],
    )


def _check(options: dict[str, Any]) -> None:
    method, start = options["method"], options["start"]
    if method != FIXED:
        try:
            registry.method(method)
        except registry.PluginMissing as error:
            raise click.UsageError(f"--method: {error}, or {FIXED}") from None
    if start is None:
        return
    if start.concurrency > options["max_concurrency"]:
        raise click.UsageError("--start has more files at a time than --max-concurrency")
    if start.parallelism > options["max_streams"]:
        raise click.UsageError("--start has more streams than --max-streams")
    if start.concurrency * start.parallelism > options["max_flows"]:
        raise click.UsageError("--start has more streams in all than --max-flows")
