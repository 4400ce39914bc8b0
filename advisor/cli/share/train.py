"""`advisor share train`: the experiment that teaches the models of several destinations."""

from collections.abc import Coroutine, Sequence
from typing import Any

import click

from advisor.cli import parameters as p
from advisor.cli.completion import destinations
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import store_option
from advisor.cli.share.learnt import learnt_of, print_learnt, with_this_store
from advisor.cli.share.requests import all_reach_options, parse_place, requests_for
from advisor.cli.transfer.moving import run_moving
from advisor.domain import events as ev
from advisor.domain.quantities import format_bytes, format_duration
from advisor.models.endless_work import LEAST_BYTES
from advisor.report.share_narration import ShareNarration
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED
from advisor.store.history import Store
from advisor.transfer.shared.training import SPACE_BYTES, TrainOptions, step_of, train_shares


@click.command()
@click.argument(
    "wanted",
    metavar="DESTINATION...",
    type=p.Parsed("[USER@]HOST", parse_place),
    nargs=-1,
    required=True,
    shell_complete=destinations,
)
@click.option(
    "--to",
    "to",
    multiple=True,
    metavar="[DEST=]FOLDER",
    help="A folder that it may write in at the destinations; %h is the name of each.",
)
@click.option(
    "--data",
    type=p.LocalData(),
    help="The file to send. [a sparse one, for which no disk is read]",
)
@click.option(
    "--time",
    "lasts",
    type=p.DURATION,
    default="10min",
    show_default=True,
    help="How long all steps take.",
)
@click.option(
    "--step",
    type=p.DURATION,
    help="How long one takes. [4s to 15s: a whole round, if time allows]",
)
@click.option(
    "--streams",
    type=click.IntRange(1, 128),
    default=8,
    show_default=True,
    help="Streams for each file, of all destinations.",
)
@click.option(
    "--space",
    type=p.SIZE,
    default=f"{SPACE_BYTES}",
    help="What there may be at each destination at a time. [1GiB]",
)
@all_reach_options
@click.option("--json", "as_json", is_flag=True, help="Events as lines of JSON.")
@store_option
@click.pass_context
def train(context: click.Context, /, **options: Any) -> int:
    """Learn what each DESTINATION gets, by sending files to all with ever other concurrencies.

    \b
    advisor share train kraken mason blacklight --to /scratch
    advisor share train kraken mason --to kraken=/scratch --to mason=/tmp --time 30min

    It is the load variation experiment of Kettimuthu et al. (2014): all with the same files at a
    time, then one of them with more, and all the same again, for each of them in turn. One file is
    sent over and over to a folder of its own in FOLDER, which is removed at the end. What is
    measured is kept: run again, the command adds to it.
    """
    wanted = options["wanted"]
    training = _training(options)
    requests = requests_for(context, wanted, options)
    for one in requests:
        if not one.destination_path:
            raise click.UsageError(
                f"--to is missing: name a folder of {one.destination_host} that it may write in"
            )
    if not options["as_json"]:
        click.echo(_cost(training, len(wanted)), err=True)

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        return train_shares(
            requests, training, store=options["store"], publish=publish, control=control
        )

    status = run_moving(
        session,
        ShareNarration,
        _as_text,
        as_json=options["as_json"],
        stopping="stopping; what was measured is kept",
    )
    if not options["as_json"] and status in (EXIT_DONE, EXIT_INTERRUPTED):
        _print_learnt(context, options["store"], [one.destination_host for one in requests])
    return status


def _training(options: dict[str, Any]) -> TrainOptions:
    data = options["data"]
    _check_size("--space", options["space"])
    if data is not None:
        if not data.is_file():
            raise click.UsageError(f"--data {data}: name a file: it is sent over and over")
        _check_size("--data", data.stat().st_size)
    found = TrainOptions(
        lasts_s=options["lasts"],
        step_s=options["step"],
        parallelism=options["streams"],
        data=data,
        space_bytes=options["space"],
    )
    try:
        step_of(found, len(options["wanted"]))
    except ValueError as error:
        raise click.UsageError(f"--time: {error}") from None
    return found


def _check_size(option: str, size_bytes: int) -> None:
    if size_bytes < LEAST_BYTES:
        raise click.UsageError(
            f"{option}: {format_bytes(size_bytes)} are too few: give {format_bytes(LEAST_BYTES)}"
        )


def _cost(training: TrainOptions, destinations: int) -> str:
    step_s, steps = step_of(training, destinations)
    lasts, space = format_duration(steps * step_s), format_bytes(training.space_bytes)
    return (
        f"Files are sent to {'all' if destinations > 1 else 'it'} at full speed for {lasts}; "
        f"{space} are there at a time at most, and all is removed at the end."
    )


def _as_text(event: ev.AnyEvent) -> None:
    match event:
        case ev.SharesEnded():
            click.echo(event.message)
        case ev.GaveUp():
            click.echo(f"advisor: {event.message}", err=True)


def _print_learnt(context: click.Context, store: Store, names: Sequence[str]) -> None:
    with store_errors():
        learnt = learnt_of(store, names, context.params["streams"])
    print_learnt(learnt)
    lacking = [one.destination for one in learnt if one.model is None]
    if lacking:
        click.echo(f"Too little is known of {', '.join(lacking)}: run the same command again.")
        return
    asked = " ".join(f"{name}=1" for name in names)
    this_store = with_this_store(context, store)
    click.echo(f"Next, with the shares you want: advisor share plan {asked}{this_store}")
