"""`advisor transfer`: moves a dataset, at settings that are tuned while it runs."""

import asyncio
import re
import sys
from typing import Any, Final

import click

from advisor import registry
from advisor.cli import parameters as p
from advisor.cli.asking import with_those_of_the_host
from advisor.cli.moving import moving_options, moving_request
from advisor.cli.options import store_option
from advisor.cli.sessions import on_lab, with_signals
from advisor.cli.transfer_narration import TransferNarration
from advisor.domain import events as ev
from advisor.domain.quantities import format_duration
from advisor.domain.space import Setting
from advisor.report import ndjson
from advisor.report.transfer import ended_lines
from advisor.session.control import Control
from advisor.session.request import AdviceRequest
from advisor.session.transfers.transfer import EPOCH_S, TransferOptions, transfer_tuned
from advisor.session.transfers.tuners import FIXED, START_METHODS

_LEAST_EPOCH_S: Final = 1.0
_START: Final = re.compile(r"([1-9]\d{0,2})\s*[x×]\s*([1-9]\d{0,2})")


def _start(text: str) -> Setting:
    if not (match := _START.fullmatch(text.strip())):
        raise ValueError("write files at a time and streams for each, as in 4x8")
    return {"concurrency": int(match.group(1)), "parallelism": int(match.group(2))}


@click.command()
@moving_options
@click.option(
    "--method",
    default="nelder-mead",
    show_default=True,
    help="What tunes: any of `advisor plugins`, or fixed for a setting that stays.",
)
@click.option(
    "--epoch",
    type=p.DURATION,
    default=f"{EPOCH_S:g}s",
    show_default=True,
    help="Time between two decisions.",
)
@click.option(
    "--start",
    type=p.Parsed("CxP", _start),
    help="fixed, harp: files at a time × streams for each to begin with. [fixed: 2x8]",
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
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Of the method.")
@click.option("--json", "as_json", is_flag=True, help="Events as lines of JSON.")
@store_option
@click.pass_context
def transfer(context: click.Context, /, **options: Any) -> int:
    """Move the files in DATA to DESTINATION, and tune the transfer while it runs.

    \b
    advisor transfer /data/run42 dtn02 --to /store/run42
    advisor transfer /data/run42 dtn02 --to /store/run42 --method harp --epoch 10s

    After each control epoch the method is told what the present setting gave, and says how many
    files at a time over how many streams are next (Balaprakash et al. 2016). Nothing is restarted
    for it: clients that run end their piece, those that follow have the new setting.
    """
    options = with_those_of_the_host(context, options)
    _check(options)
    request = on_lab(
        moving_request(
            options,
            method=options["method"],
            max_concurrency=options["max_concurrency"],
            max_streams=options["max_streams"],
            seed=options["seed"],
        )
    )
    wanted = TransferOptions(
        epoch_s=options["epoch"], start=options["start"], most_flows=options["max_flows"]
    )
    return _moved(request, wanted, options)


def _check(options: dict[str, Any]) -> None:
    method, start = options["method"], options["start"]
    if options["epoch"] < _LEAST_EPOCH_S:
        raise click.UsageError(
            f"--epoch is {format_duration(options['epoch'])}: give at least "
            f"{format_duration(_LEAST_EPOCH_S)}"
        )
    if method != FIXED:
        try:
            registry.method(method)
        except registry.PluginMissing as error:
            raise click.UsageError(f"--method: {error}, or {FIXED}") from None
    if start is None:
        return
    if method not in START_METHODS:
        raise click.UsageError(
            f"--start is for --method {' and '.join(START_METHODS)}: {method} begins where its "
            "paper does"
        )
    if start["concurrency"] > options["max_concurrency"]:
        raise click.UsageError("--start has more files at a time than --max-concurrency")
    if start["parallelism"] > options["max_streams"]:
        raise click.UsageError("--start has more streams than --max-streams")
    if start["concurrency"] * start["parallelism"] > options["max_flows"]:
        raise click.UsageError("--start has more streams in all than --max-flows")


def _moved(request: AdviceRequest, wanted: TransferOptions, options: dict[str, Any]) -> int:
    as_json, control = options["as_json"], Control()
    bars = sys.stderr.isatty() and not as_json
    with TransferNarration(sys.stderr, bars=bars) as narration:
        data = ndjson.writer(sys.stdout) if as_json else _as_text

        def publish(event: ev.AnyEvent) -> None:
            narration(event)
            data(event)

        async def session() -> int:
            return await transfer_tuned(
                request, wanted, store=options["store"], publish=publish, control=control
            )

        return asyncio.run(
            with_signals(session, control, publish, stopping="stopping; what arrived stays there")
        )


def _as_text(event: ev.AnyEvent) -> None:
    match event:
        case ev.TransferEnded():
            click.echo("\n".join(ended_lines(event)))
        case ev.GaveUp():
            click.echo(f"advisor: {event.message}", err=True)
