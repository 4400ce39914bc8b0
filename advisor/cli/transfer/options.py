"""Options of the commands that move files: how often a transfer is adjusted, and its limits."""

from typing import Annotated, Any

import typer

from advisor import registry
from advisor.cli import parameters as p
from advisor.cli.completion import transfer_tools
from advisor.cli.errors import UsageError
from advisor.cli.options import FILES, LIMITS, SEARCH
from advisor.traits import check_mover
from advisor.transfer.engine.epochs import EPOCH_S
from advisor.transfer.engine.retry import RETRY_S
from advisor.transfer.tuned.parsing import parse_epoch


def tool_option(show_default: str) -> Any:
    """`--tool`."""
    return typer.Option(
        "--tool",
        metavar="NAME",
        autocompletion=transfer_tools,
        show_default=show_default,
        help="The tool that moves the files.",
        rich_help_panel=FILES,
    )


ToolOption = Annotated[str | None, tool_option("the first of `advisor plugins` that can")]
RunOption = Annotated[
    bool, typer.Option("--run", help="Move the files as planned.", rich_help_panel=FILES)
]
EpochOption = Annotated[
    float,
    typer.Option(
        "--epoch",
        parser=p.parsed(parse_epoch),
        metavar="TIME",
        show_default=f"{EPOCH_S:g}s",
        help="Time between two adjustments of the transfer while it runs.",
        rich_help_panel=LIMITS,
    ),
]
RetryTimeOption = Annotated[
    float,
    typer.Option(
        "--retry-time",
        **p.DURATION,
        show_default=f"{RETRY_S / 60:g}min",
        help="How long to retry when the connection to a destination is lost, before it is given "
        "up.",
        rich_help_panel=LIMITS,
    ),
]
RelaxationOption = Annotated[
    float,
    p.number(
        "--relaxation",
        low=0.1,
        high=1.0,
        help="With a method that learns from history: the fraction of the predicted rate to keep "
        "when concurrency, then streams, are lowered; 0.7 in HARP's paper.",
        rich_help_panel=SEARCH,
    ),
]
MaxStreamsOption = Annotated[
    int,
    p.whole(
        "--max-streams",
        low=1,
        high=128,
        help="Most streams for each file.",
        rich_help_panel=LIMITS,
    ),
]


def check_tool(tool: str | None) -> None:
    """Raises UsageError for a tool that transfers cannot run."""
    if tool is None:
        return
    try:
        check_mover(tool)
    except registry.PluginMissing as error:
        raise UsageError.about("--tool", error) from None
