"""`advisor share train`: the experiment that teaches the models of several destinations."""

from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated, Any, NewType

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options, command
from advisor.cli.errors import UsageError
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import FILES, LIMITS, EventsAsJson, StoreOption
from advisor.cli.share.learnt import learnt_of, print_learnt, with_this_store
from advisor.cli.share.requests import (
    DESTINATIONS,
    AllReachOptions,
    ServersOption,
    Wanted,
    parse_place,
    requests_for,
)
from advisor.cli.transfer.moving import run_moving
from advisor.cli.transfer.options import ToolOption
from advisor.domain import events as ev
from advisor.domain.quantities import format_bytes, format_duration
from advisor.domain.shell import shell_line
from advisor.hosts.datasets import listed_files
from advisor.report.output import say
from advisor.report.share_narration import ShareNarration
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED
from advisor.store.history import Store
from advisor.traits import moving_tool, tool_traits
from advisor.transfer.shared.parsing import parse_precision, parse_streams
from advisor.transfer.shared.training import (
    LASTS_S,
    MOST_FILES,
    PRECISION,
    SPACE_BYTES,
    TrainOptions,
    longest_step_s,
    scratch_parent,
    train_shares,
)
from advisor.transfer.shared.training_files import endless_work, least_space_bytes

_StreamRange = NewType("_StreamRange", tuple[int, int])


class TrainingOptions(Options, frozen=True):
    """What the experiment sends, and for how long."""

    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            **p.LOCAL_DATA,
            show_default="a sparse file, for which no disk is read",
            help="The file to send; a folder, for a tool that moves whole files.",
            rich_help_panel=FILES,
        ),
    ] = None
    lasts: Annotated[
        float,
        typer.Option(
            "--time",
            **p.DURATION,
            show_default=format_duration(LASTS_S),
            help="How long the whole experiment takes.",
            rich_help_panel=LIMITS,
        ),
    ] = LASTS_S
    step: Annotated[
        float | None,
        typer.Option(
            "--step",
            **p.DURATION,
            show_default="4s to 90s: time for three rounds of levels",
            help="The longest that a step of it takes. It ends sooner when every rate is known.",
            rich_help_panel=LIMITS,
        ),
    ] = None
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            parser=p.parsed(parse_precision),
            metavar="SHARE",
            show_default=f"{PRECISION:.0%}",
            help="The standard error of a rate at which it counts as known.",
            rich_help_panel=LIMITS,
        ),
    ] = PRECISION
    most: Annotated[
        int,
        p.whole(
            "--most",
            low=2,
            high=128,
            help="Most concurrent files to one destination.",
            rich_help_panel=LIMITS,
        ),
    ] = MOST_FILES
    streams: Annotated[
        _StreamRange | None,
        typer.Option(
            "--streams",
            parser=p.parsed(parse_streams),
            metavar="N[-M]",
            show_default="8, or 1 with a tool that moves whole files",
            help="Streams for each file, at all destinations; a range varies them too, so that the "
            "models know what a stream does.",
            rich_help_panel=LIMITS,
        ),
    ] = None
    space: Annotated[
        int,
        typer.Option(
            "--space",
            **p.SIZE,
            show_default="1GiB",
            help="Most space that is taken at each destination at any time.",
            rich_help_panel=LIMITS,
        ),
    ] = SPACE_BYTES


@command()
def train(
    context: typer.Context,
    for_all: AllReachOptions,
    training: TrainingOptions,
    *,
    store: StoreOption,
    wanted: Annotated[
        list[Wanted],
        typer.Argument(
            parser=p.parsed(parse_place),
            metavar="DESTINATION…",
            help="[USER@]HOST, lab:NAME, or a URL as in gsiftp://HOST/PATH.",
            **DESTINATIONS,
        ),
    ],
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="[DEST=]FOLDER",
            help="A folder at the destinations that may be written in; %h is the name of each. "
            "Can be repeated.",
            rich_help_panel=FILES,
        ),
    ] = None,
    tool: ToolOption = None,
    server: ServersOption = None,
    as_json: EventsAsJson = False,
) -> int:
    """Learn what each DESTINATION gets, by sending files to all at varying concurrencies.

    \b
    advisor share train kraken mason blacklight --to /scratch
    advisor share train kraken mason --to kraken=/scratch --to mason=/data/tests

    It is the load variation experiment of Kettimuthu et al. (2014), with other levels: the numbers
    of concurrent files are spread over the whole range up to --most, for each destination
    independently of the others. One file (some, by a tool that moves whole files) is sent
    repeatedly to a new folder in FOLDER, which is removed at the end. The measurements are stored:
    run again, the command adds to them.
    """
    tool = tool or moving_tool()
    requests = requests_for(wanted, to or [], for_all, server or [], tool)
    wished = _training(training, len(wanted), tool)
    try:
        for one in requests:
            scratch_parent(one)
    except ValueError as error:
        raise UsageError.about("", error) from None
    if not as_json:
        say(_cost(wished, len(wanted)), err=True)

    def session(publish: Publish, control: Control) -> Coroutine[Any, Any, int]:
        return train_shares(requests, wished, store=store, publish=publish, control=control)

    status = run_moving(
        session,
        ShareNarration,
        _as_text,
        as_json=as_json,
        stopping="stopping; what was measured is kept",
    )
    if not as_json and status in (EXIT_DONE, EXIT_INTERRUPTED):
        names = [one.destination_host for one in requests]
        _print_learnt(context, store, training, names, tool)
    return status


def _training(options: TrainingOptions, destinations: int, tool: str) -> TrainOptions:
    whole = tool_traits(tool).whole_files
    least_bytes = least_space_bytes(options.most, whole=whole)
    if options.space < least_bytes:
        raise UsageError(
            f"--space: {format_bytes(options.space)} are too few",
            remedy=f"give {format_bytes(least_bytes)}",
        )
    if options.data is not None:
        _check_data(options.data, options, whole=whole)
    found = TrainOptions(
        lasts_s=options.lasts,
        step_s=options.step,
        precision=options.precision,
        most=options.most,
        streams=options.streams,
        data=options.data,
        space_bytes=options.space,
    )
    try:
        longest_step_s(found, destinations)
    except ValueError as error:
        raise UsageError.about("--time", error) from None
    return found


def _check_data(data: Path, options: TrainingOptions, *, whole: bool) -> None:
    if whole and not data.is_dir():
        raise UsageError(
            f"--data {data} is no folder", remedy="name one: its files are sent over and over"
        )
    if not whole and not data.is_file():
        raise UsageError(f"--data {data} is no file", remedy="name one: it is sent over and over")
    try:
        endless_work(list(listed_files(data)), options.space, options.most, whole=whole)
    except (OSError, ValueError) as error:
        raise UsageError.about(f"--data {data}", error) from None


def _cost(training: TrainOptions, destinations: int) -> str:
    lasts, space = format_duration(training.lasts_s), format_bytes(training.space_bytes)
    return (
        f"Files are sent to {'all' if destinations > 1 else 'it'} at full speed for {lasts}; "
        f"they take up to {space} there, and are removed at the end."
    )


def _as_text(event: ev.AnyEvent) -> None:
    match event:
        case ev.SharesEnded():
            say(event.message)
        case ev.GaveUp():
            say(f"advisor: {event.message}", err=True)


def _print_learnt(
    context: typer.Context,
    store: Store,
    training: TrainingOptions,
    names: Sequence[str],
    tool: str,
) -> None:
    streams = training.streams[1] if training.streams else None
    with store_errors():
        learnt = learnt_of(store, names, streams, tool)
    print_learnt(learnt)
    lacking = [one.destination for one in learnt if one.model is None]
    if lacking:
        say(f"Too little is known of {', '.join(lacking)}: run the same command again.")
        return
    asked = shell_line(f"{name}=1" for name in names)
    this_store = with_this_store(context, store)
    say(f"Next, with the shares you want: advisor share plan {asked}{this_store}")
