"""Options of several commands of `advisor lab`."""

from typing import Annotated, Any, Final

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options
from advisor.cli.options import json_option
from advisor.domain.endpoints import LAB_NAME
from advisor.domain.quantities import parse_rate, with_unit
from advisor.lab.paths import Changes, parse_share, parse_time

PATH: Final = "The path"


def lab_name(text: str) -> str:
    """The name of a lab or of one of its hosts. Raises ValueError."""
    if not LAB_NAME.fullmatch(text):
        raise ValueError("a name has letters, digits and dashes, at most 31")
    return text


NAME: Final[Any] = {"parser": p.parsed(lab_name), "metavar": "NAME"}
SHARE: Final[Any] = {"parser": p.parsed(parse_share), "metavar": "SHARE"}
TIME: Final[Any] = {"parser": p.parsed(with_unit(parse_time, "ms")), "metavar": "TIME"}
RATE: Final[Any] = {"parser": p.parsed(with_unit(parse_rate, "Mbit")), "metavar": "RATE"}
"""Without the bounds of other commands: labs have their own."""

NameArgument = Annotated[str, typer.Argument(**NAME, help="The name of the lab.")]
HostOption = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="HOST",
        show_default="all; for load the first one",
        help="In a lab with several destinations: only this one, or the path to it.",
    ),
]
StatusAsJson = Annotated[bool, json_option("Print the state of the lab as JSON.")]


class PathOptions(Options, frozen=True):
    """The properties of a path, which can also be changed while the lab runs."""

    rtt_s: Annotated[
        float | None,
        typer.Option(
            "--rtt",
            **TIME,
            help="Round-trip propagation time, as in 47ms.",
            rich_help_panel=PATH,
        ),
    ] = None
    rate_bps: Annotated[
        float | None,
        typer.Option(
            "--rate",
            **RATE,
            help="Bottleneck rate in each direction, as in 1Gbit.",
            rich_help_panel=PATH,
        ),
    ] = None
    loss: Annotated[
        float | None,
        typer.Option(
            "--loss",
            **SHARE,
            help="Share of packets lost in each direction, as in 0.1% or 3e-4.",
            rich_help_panel=PATH,
        ),
    ] = None
    burst_packets: Annotated[
        float | None,
        typer.Option(
            "--burst",
            **p.DECIMAL,
            metavar="PACKETS",
            help="Mean number of packets lost in a row.",
            rich_help_panel=PATH,
        ),
    ] = None
    queue_bytes: Annotated[
        int | None,
        typer.Option(
            "--queue",
            **p.SIZE,
            show_default="one bandwidth-delay product",
            help="Size of the drop-tail queue at the bottleneck.",
            rich_help_panel=PATH,
        ),
    ] = None
    jitter_s: Annotated[
        float | None,
        typer.Option(
            "--jitter",
            **TIME,
            help="Delay each packet by a random time up to this.",
            rich_help_panel=PATH,
        ),
    ] = None
    reordering: Annotated[
        bool | None,
        typer.Option(
            "--reordering/--no-reordering",
            show_default="no",
            help="Whether jitter may change the order of packets.",
            rich_help_panel=PATH,
        ),
    ] = None


def changes_of(options: PathOptions) -> Changes:
    """The changes to a path by these options; `path_name`: the path to change."""
    given = msgspec.structs.asdict(options)
    given.pop("path_name", None)
    return Changes(**given)
