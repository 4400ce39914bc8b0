"""`advisor advise`: measures a path and prints advice."""

import secrets
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from advisor.advising.budget import SHORTEST_S
from advisor.cli import parameters as p
from advisor.cli.advise.sessions import run_session
from advisor.cli.commands import Options, command, is_typed
from advisor.cli.completion import transfer_tools
from advisor.cli.connection import DestinationArgument, ReachOptions
from advisor.cli.errors import UsageError
from advisor.cli.options import (
    FILES,
    SEARCH,
    EventsAsJson,
    OrdersOption,
    StoreOption,
)
from advisor.domain.addresses import parse_server
from advisor.domain.dataset import Dataset
from advisor.domain.quantities import format_duration
from advisor.domain.space import Scale
from advisor.hosts.datasets import scan
from advisor.runtime.request import AdviceRequest

_TOOL: Final = "Profiling a tool from disk to disk"


class SearchOptions(Options, frozen=True):
    """What is searched, how, and for how long."""

    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            **p.DURATION,
            show_default="60s up to 100 ms RTT, more beyond",
            help="Time for the whole session, as in 2min.",
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
        list[p.Constant] | None,
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
            show_default="the plugins' defaults",
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
    seed: Annotated[
        int | None,
        p.whole(
            "--seed",
            low=0,
            high=2**32 - 1,
            show_default="another one each time",
            help="Seed of the random numbers: the same seed repeats the search.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    accept_history: Annotated[
        bool,
        typer.Option(
            "--accept-history",
            help="Use stored results of this path if there are any; do not measure.",
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


class DataOptions(Options, frozen=True):
    """What is to be moved, and the tools whose lines are wanted."""

    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            **p.SIZE,
            help="How much there is to move, as in 10TB, to tell how long it takes.",
            rich_help_panel=FILES,
        ),
    ] = None
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", exists=True, help="What to move: a file or a folder.", rich_help_panel=FILES
        ),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="PATH",
            help="Where it goes at the destination, for the command lines.",
            rich_help_panel=FILES,
        ),
    ] = None
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="The destination's GridFTP server, as in gsiftp://HOST:2811.",
            rich_help_panel=FILES,
        ),
    ] = None
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
            autocompletion=transfer_tools,
            help="Measure this tool from disk to disk with part of --data "
            "instead of the network alone.",
            rich_help_panel=_TOOL,
        ),
    ] = None
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
    max_concurrency: Annotated[
        int,
        p.whole(
            "--max-concurrency",
            low=1,
            high=128,
            help="Most files that are moved at the same time.",
            rich_help_panel=_TOOL,
        ),
    ] = 16


@command()
def advise(
    context: typer.Context,
    reach: ReachOptions,
    search: SearchOptions,
    data: DataOptions,
    tool: ToolOptions,
    *,
    store: StoreOption,
    destination: DestinationArgument = None,
    as_json: EventsAsJson = False,
    orders: OrdersOption = False,
) -> int:
    """Measure the path to DESTINATION and print advice with command lines.

    DESTINATION is [USER@]HOST, reached with your own ssh (advisor must be installed there),
    localhost, or lab:NAME for a testbed of 'advisor lab'. With --agent HOST:PORT it may be left
    out.
    """
    _check_tool(context, tool, data)
    request = _request(reach.request_fields(destination), search, data, tool)
    if search.accept_history and search.measure:
        raise UsageError("--accept-history and --measure exclude each other: give one")
    ask = not (search.measure or as_json or orders)
    return run_session(request, store, as_json=as_json, ask=ask, orders=orders)


def _request(
    reach: dict[str, Any], search: SearchOptions, data: DataOptions, tool: ToolOptions
) -> AdviceRequest:
    from advisor.traits import default_method, default_tools, default_transports, method_traits

    _check_budget(search.budget)
    method = search.method or default_method("tool" if tool.tool else "network")
    constants = _constants(method, search)
    if tool.tool:
        constants = {**method_traits(method).tool_constants, **constants}
    return AdviceRequest(
        **reach,
        budget_s=search.budget,
        method=method,
        constants=constants,
        transports=_known_transports(search.transports or p.Names(default_transports())),
        congestion=search.congestion or [],
        tools=[tool.tool] if tool.tool else _known_tools(data.tools or p.Names(default_tools())),
        tool=tool.tool,
        keep=tool.keep,
        verify=tool.verify,
        max_concurrency=tool.max_concurrency,
        max_streams=search.max_streams or (8 if tool.tool else 25),
        buffer_scale=Scale(search.buffer_scale) if search.buffer_scale else None,
        seed=secrets.randbelow(2**32) if search.seed is None else search.seed,
        accept_history=search.accept_history,
        dataset=_dataset(data),
        destination_path=data.to,
        server_url=_server(data.server),
    )


_OF_THE_NETWORK: Final = {
    "transports": "--transports",
    "congestion": "--congestion",
    "tools": "--for-tool",
    "buffer_scale": "--buffer-scale",
}


def _check_tool(context: typer.Context, options: ToolOptions, data: DataOptions) -> None:
    """Check the options about files. Raises UsageError."""
    from advisor import registry

    if not options.tool:
        for name, is_given in (("keep", options.keep), ("verify", options.verify)):
            if is_given:
                raise UsageError(f"--{name} needs --profile-tool: it is about the files it moves")
        return
    try:
        registry.transfer_tool(options.tool)
    except registry.PluginMissing as error:
        raise UsageError(f"--profile-tool: {error}") from None
    if not data.data or not data.to:
        raise UsageError(
            "--profile-tool moves part of your files: say which with --data, and where they go "
            "with --to"
        )
    for name, option in _OF_THE_NETWORK.items():
        if is_typed(context, name):
            raise UsageError(f"{option} is about the network alone: leave it out of --profile-tool")


def _check_budget(budget_s: float | None) -> None:
    if budget_s is not None and budget_s < SHORTEST_S:
        raise UsageError(
            f"--budget {format_duration(budget_s)} is too short for one probe: "
            f"give at least {SHORTEST_S:g} s"
        )


def _constants(method: str, options: SearchOptions) -> dict[str, float]:
    """The constants that were set, checked against the method's bounds. Raises UsageError."""
    from advisor import registry

    try:
        known = {c.name: c for c in registry.method(method).constants}
    except registry.PluginMissing as error:
        raise UsageError(f"--method: {error}") from None
    given = dict(options.constant or ())
    named = {"C": options.C, "L": options.L, "N": options.N}
    given |= {name: value for name, value in named.items() if value is not None}
    for name, value in given.items():
        if name not in known:
            raise UsageError(
                f"--constant {name}: {method} has none of that name, "
                f"it has {', '.join(known) or 'none'}"
            )
        try:
            known[name].checked(value)
        except ValueError as error:
            option = f"-{name}" if name in "CLN" else f"--constant {name}"
            raise UsageError(f"{option}: {error}") from None
    return given


def _known_transports(names: p.Names) -> list[str]:
    from advisor import registry

    for name in names:
        try:
            registry.transport(name)
        except registry.PluginMissing as error:
            raise UsageError(f"--transports: {error}") from None
    return names


def _known_tools(names: p.Names) -> list[str]:
    from advisor import registry

    for name in names:
        try:
            registry.tool(name)
        except registry.PluginMissing as error:
            raise UsageError(f"--for-tool: {error}") from None
    return names


def _server(text: str | None) -> str | None:
    try:
        return parse_server(text) if text else None
    except ValueError as error:
        raise UsageError(f"--server {error}") from None


def _dataset(options: DataOptions) -> Dataset | None:
    if options.data and options.size:
        raise UsageError("--data and --size exclude each other: --data says the size itself")
    if options.size:
        return Dataset(total_bytes=options.size)
    if not options.data:
        return None
    try:
        found = scan(options.data)
    except (OSError, ValueError) as error:
        raise UsageError(f"--data {options.data}: {error}") from None
    if found.unreadable:
        typer.echo(
            f"advisor: --data: {found.unreadable} files or directories cannot be read and are not "
            "counted: a transfer as you would stop at them",
            err=True,
        )
    return found
