"""Options of `advisor advise`: the search, the data, and a tool that is profiled."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options
from advisor.cli.completion import tools_to_profile
from advisor.cli.options import (
    CONNECTION,
    DATA,
    FILES,
    SEARCH,
    ServerOption,
    ToOption,
    max_concurrency_option,
    seed_option,
)

_TOOL: Final = "Profiling a tool from disk to disk"


class SearchOptions(Options, frozen=True):
    """What is searched, how, and for how long."""

    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            **p.DURATION,
            show_default="60s up to 100 ms RTT, more beyond",
            help="Most time for the whole session, as in 2min; it ends sooner if all is decided.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            show_default="by what is profiled",
            help="The search method; 'advisor plugins' lists all.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    C: Annotated[
        float | None,
        typer.Option(
            "--gain-ratio",
            "-C",
            **p.DECIMAL,
            metavar="SHARE",
            help="Stop when a probe reaches this share of the bandwidth, as in 0.9.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    L: Annotated[
        int | None,
        typer.Option(
            "--impeded",
            "-L",
            **p.INTEGER,
            metavar="NUMBER",
            help="Stop after this number of iterations without gain, for methods that count them.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    N: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            "-N",
            **p.INTEGER,
            metavar="NUMBER",
            help="Stop after this number of probes, or of rounds of them.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    constant: Annotated[
        list[p.NamedNumber] | None,
        typer.Option(
            "--constant",
            **p.CONSTANT,
            help="Set another constant of the method. Can be repeated.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    transports: Annotated[
        p.Names | None,
        typer.Option(
            "--transports",
            **p.NAMES,
            show_default="what is installed",
            help="Transports to profile; 'advisor plugins' lists all.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    congestion: Annotated[
        p.Names | None,
        typer.Option(
            "--congestion",
            **p.NAMES,
            show_default="the kernel's own",
            help="TCP congestion controls to compare, with a search for each.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    max_streams: Annotated[
        int | None,
        p.whole(
            "--max-streams",
            low=1,
            high=128,
            show_default="25; with --profile-tool 8",
            help="Most parallel streams; with --profile-tool for each file.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    buffer_scale: Annotated[
        Literal["linear", "log2"] | None,
        typer.Option(
            "--buffer-scale",
            show_default="by the range of the buffers",
            help="Spacing of the buffer sizes that are tried.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    seed: Annotated[int | None, seed_option(show_default="another one each time")] = None
    accept_history: Annotated[
        bool,
        typer.Option(
            "--accept-history",
            help="Use stored results of this path and measure nothing; without any, exit code 1.",
            rich_help_panel=SEARCH,
        ),
    ] = False
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Measure without asking, even if results of this path are stored.",
            rich_help_panel=SEARCH,
        ),
    ] = False


class SeveralOptions(Options, frozen=True):
    """Several connections of the same hosts."""

    interfaces: Annotated[
        str | None,
        typer.Option(
            "--interfaces",
            metavar="A=B,C=D",
            help="Several networks: pairs of an interface or address here and one there. Each is "
            "measured alone, and all at once; 'advisor path' lists them.",
            rich_help_panel=CONNECTION,
        ),
    ] = None


class DataOptions(Options, frozen=True):
    """What is to be moved, and the tools whose lines are wanted."""

    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            **p.SIZE,
            help="How much there is to move, as in 10TB: how long it takes, and how long it is "
            "worth measuring.",
            rich_help_panel=FILES,
        ),
    ] = None
    data: Annotated[Path | None, DATA] = None
    to: ToOption = None
    server: ServerOption = None
    tools: Annotated[
        p.Names | None,
        typer.Option(
            "--for-tool",
            **p.NAMES,
            show_default="the plugins' defaults",
            help="Tools to write command lines for; 'advisor plugins' lists all.",
            rich_help_panel=FILES,
        ),
    ] = None


class ToolOptions(Options, frozen=True):
    """A tool that is profiled with the user's own files."""

    tool: Annotated[
        str | None,
        typer.Option(
            "--profile-tool",
            metavar="NAME",
            autocompletion=tools_to_profile,
            help="Measure this tool from disk to disk with part of --data instead of the network "
            "alone; 'auto' for the first one that is installed here and can be used for "
            "DESTINATION.",
            rich_help_panel=_TOOL,
        ),
    ] = None
    without_agent: Annotated[
        bool,
        typer.Option(
            "--without-agent",
            help="Start no program at the destination: the tool itself lists and removes the files "
            "of the measurement, and this end counts.",
            rich_help_panel=_TOOL,
        ),
    ] = False
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Keep the files that arrive whole during the measurement.",
            rich_help_panel=_TOOL,
        ),
    ] = False
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Have the recommended line compare checksums.",
            rich_help_panel=_TOOL,
        ),
    ] = False
    max_concurrency: Annotated[int, max_concurrency_option(panel=_TOOL)] = 64
