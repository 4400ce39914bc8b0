"""`advisor advise`: the main job."""

import secrets
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from advisor.advising.budget import SHORTEST_S
from advisor.cli import parameters as p
from advisor.cli.advise.sessions import run_session
from advisor.cli.completion import transfer_tools
from advisor.cli.connection import reach_fields, reach_options, with_those_of_the_host
from advisor.cli.options import store_option
from advisor.domain.addresses import parse_server
from advisor.domain.dataset import Dataset
from advisor.domain.quantities import format_duration
from advisor.domain.space import Scale
from advisor.hosts.datasets import scan
from advisor.runtime.request import AdviceRequest


@click.command()
@reach_options
@click.option("--budget", type=p.DURATION, help="Time for everything. [60 s up to 100 ms RTT]")
@click.option("--method", help="The search method. [bayes; with --tool, depth-width]")
@click.option("-C", "--gain-ratio", "C", type=float, help="Stop at this share of the bandwidth.")
@click.option(
    "-L", "--impeded", "L", type=int, help="SPSA: stop after so many iterations without gain."
)
@click.option("-N", "--iterations", "N", type=int, help="Probes, or rounds of them, at most.")
@click.option("--constant", multiple=True, type=p.CONSTANT, help="Another constant of the method.")
@click.option(
    "--transports", type=p.NAMES, default="tcp,udt", show_default=True, help="What to profile."
)
@click.option("--congestion", type=p.NAMES, help="Congestion controls to try: one run each.")
@click.option(
    "--tools",
    type=p.NAMES,
    default="globus-url-copy,xdd",
    show_default=True,
    help="What to write command lines for; 'advisor plugins' lists all.",
)
@click.option(
    "--tool",
    shell_complete=transfer_tools,
    help="Profile this tool from disk to disk, with part of --data, as in globus-url-copy.",
)
@click.option(
    "--keep", is_flag=True, help="With --tool: files that arrive whole in the probes stay there."
)
@click.option("--verify", is_flag=True, help="With --tool: let the line compare checksums.")
@click.option(
    "--max-concurrency",
    type=click.IntRange(1, 128),
    default=16,
    show_default=True,
    help="With --tool: files at a time at most.",
)
@click.option(
    "--max-streams",
    type=click.IntRange(1, 128),
    help="Parallel streams at most; with --tool, for each file. [25; with --tool, 8]",
)
@click.option("--buffer-scale", type=click.Choice(["linear", "log2"]), help="Layout of buffers.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Makes the search repeatable.")
@click.option("--size", type=p.SIZE, help="How much there is to move, as in 10TB.")
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    help="What to move: a file, a directory.",
)
@click.option("--to", "to", help="Where it goes on the destination, for the command lines.")
@click.option("--server", help="The destination's GridFTP server, as in gsiftp://HOST:2811.")
@click.option(
    "--accept-history", is_flag=True, help="If results are stored, use them, measure not."
)
@click.option("--measure", is_flag=True, help="Measure without asking, even if results are stored.")
@click.option("--json", "as_json", is_flag=True, help="Events as lines of JSON, the advice last.")
@click.option("--orders", is_flag=True, help="Read orders from standard input, as lines of JSON.")
@store_option
@click.pass_context
def advise(context: click.Context, /, **options: Any) -> int:
    """Measure the path to DESTINATION and print advice with command lines.

    DESTINATION is [USER@]HOST, reached with your own ssh (advisor must be installed there),
    localhost, or lab:NAME for a testbed of 'advisor lab'. With --agent HOST:PORT it may be left
    out.
    """
    _check_tool(context, options)
    request = _request(with_those_of_the_host(context, options))
    if options["accept_history"] and options["measure"]:
        raise click.UsageError("--accept-history and --measure exclude each other: give one")
    ask = not (options["measure"] or options["as_json"] or options["orders"])
    return run_session(
        request, options["store"], as_json=options["as_json"], ask=ask, orders=options["orders"]
    )


def _request(options: dict[str, Any]) -> AdviceRequest:
    reach = reach_fields(options)
    _check_budget(options["budget"])
    tool = options["tool"]
    options["method"] = options["method"] or ("depth-width" if tool else "bayes")
    constants = _constants(options)
    if tool and options["method"] == "depth-width":
        # What was found is measured again in the end; so the search can see more settings.
        constants.setdefault("d", 2)
    seed = options["seed"]
    return AdviceRequest(
        **reach,
        budget_s=options["budget"],
        method=options["method"],
        constants=constants,
        transports=_known_transports(options["transports"]),
        congestion=options["congestion"] or [],
        tools=[tool] if tool else _known_tools(options["tools"]),
        tool=tool,
        keep=options["keep"],
        verify=options["verify"],
        max_concurrency=options["max_concurrency"],
        max_streams=options["max_streams"] or (8 if tool else 25),
        buffer_scale=Scale(options["buffer_scale"]) if options["buffer_scale"] else None,
        seed=secrets.randbelow(2**32) if seed is None else seed,
        accept_history=options["accept_history"],
        dataset=_dataset(options),
        destination_path=options["to"],
        server_url=_server(options["server"]),
    )


_OF_THE_NETWORK = ("transports", "congestion", "tools", "buffer_scale")


def _check_tool(context: click.Context, options: dict[str, Any]) -> None:
    """Whether what is asked of files makes sense."""
    from advisor import registry

    if not options["tool"]:
        for name in ("keep", "verify"):
            if options[name]:
                raise click.UsageError(f"--{name} needs --tool: it is about the files it moves")
        return
    try:
        registry.transfer_tool(options["tool"])
    except registry.PluginMissing as error:
        raise click.UsageError(f"--tool: {error}") from None
    if not options["data"] or not options["to"]:
        raise click.UsageError(
            "--tool moves part of your files: say which with --data, and with --to where they go"
        )
    for name in _OF_THE_NETWORK:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is about the network alone: leave it out of --tool")


def _check_budget(budget_s: float | None) -> None:
    if budget_s is not None and budget_s < SHORTEST_S:
        raise click.UsageError(
            f"--budget {format_duration(budget_s)} is too short for one probe: "
            f"give at least {SHORTEST_S:g} s"
        )


def _constants(options: dict[str, Any]) -> dict[str, float]:
    """Those of the method that were set, checked against the method's own bounds."""
    from advisor import registry

    try:
        known = {c.name: c for c in registry.method(options["method"]).constants}
    except registry.PluginMissing as error:
        raise click.UsageError(f"--method: {error}") from None
    given = dict(options["constant"])
    given |= {name: options[name] for name in ("C", "L", "N") if options[name] is not None}
    for name, value in given.items():
        if name not in known:
            raise click.UsageError(
                f"--constant {name}: {options['method']} has none of that name, "
                f"it has {', '.join(known) or 'none'}"
            )
        try:
            known[name].checked(value)
        except ValueError as error:
            option = f"-{name}" if name in "CLN" else f"--constant {name}"
            raise click.UsageError(f"{option}: {error}") from None
    return given


def _known_transports(names: list[str]) -> list[str]:
    from advisor import registry

    for name in names:
        try:
            registry.transport(name)
        except registry.PluginMissing as error:
            raise click.UsageError(f"--transports: {error}") from None
    return names


def _known_tools(names: list[str]) -> list[str]:
    from advisor import registry

    for name in names:
        try:
            registry.tool(name)
        except registry.PluginMissing as error:
            raise click.UsageError(f"--tools: {error}") from None
    return names


def _server(text: str | None) -> str | None:
    try:
        return parse_server(text) if text else None
    except ValueError as error:
        raise click.UsageError(f"--server {error}") from None


def _dataset(options: dict[str, Any]) -> Dataset | None:
    if options["data"] and options["size"]:
        raise click.UsageError("--data and --size exclude each other: --data says the size itself")
    if options["size"]:
        return Dataset(total_bytes=options["size"])
    if not options["data"]:
        return None
    try:
        found = scan(options["data"])
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--data {options['data']}: {error}") from None
    if found.unreadable:
        click.echo(
            f"advisor: --data: {found.unreadable} files or directories cannot be read and are not "
            "counted: a transfer as you would stop at them",
            err=True,
        )
    return found
