"""Makes the request of `advisor advise` from its options, and checks them."""

import asyncio
import secrets
from pathlib import Path
from typing import Any, Final

import msgspec
import typer

from advisor.advising.budget import SHORTEST_S
from advisor.cli import parameters as p
from advisor.cli.advise.options import DataOptions, SearchOptions, SeveralOptions, ToolOptions
from advisor.cli.commands import is_typed
from advisor.cli.connection import DataReachOptions
from advisor.cli.errors import UsageError
from advisor.domain.addresses import parse_interfaces
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import LOCALHOST, Endpoint
from advisor.domain.quantities import format_duration
from advisor.domain.space import Scale
from advisor.domain.traits import FOUND_TOOL
from advisor.hosts.datasets import scan
from advisor.report.output import say
from advisor.runtime.request import AdviceRequest, ConnectionOptions


def advice_request(
    reach: dict[str, Any], search: SearchOptions, data: DataOptions, tool: ToolOptions
) -> AdviceRequest:
    """The request of these options; `reach`: its fields on the destination. Raises UsageError."""
    from advisor.traits import default_method, default_transports, method_traits

    _check_budget(search.budget)
    method = search.method or default_method("tool" if tool.tool else "network")
    constants = _constants(method, search)
    if instead := method_traits(method).instead:
        raise UsageError(f"--method {method} gives no advice", remedy=instead)
    if tool.tool:
        constants = {**method_traits(method).tool_constants, **constants}
    return AdviceRequest(
        **reach,
        budget_s=search.budget,
        method=method,
        constants=constants,
        transports=_known_transports(search.transports or p.Names(default_transports())),
        congestion=search.congestion or [],
        tools=[tool.tool] if tool.tool else _known_tools(data.tools or p.Names([])),
        tool=tool.tool,
        without_agent=tool.without_agent,
        keep=tool.keep,
        verify=tool.verify,
        max_concurrency=tool.max_concurrency,
        max_streams=search.max_streams or (8 if tool.tool else 25),
        buffer_scale=Scale(search.buffer_scale) if search.buffer_scale else None,
        seed=secrets.randbelow(2**32) if search.seed is None else search.seed,
        accept_history=search.accept_history,
        dataset=_dataset(data),
        destination_path=data.to,
        server_url=known_server(data.server, tool.tool),
    )


def interface_fields(
    several: SeveralOptions, reach: DataReachOptions, search: SearchOptions, tool: ToolOptions
) -> dict[str, Any]:
    """The fields of an AdviceRequest about several connections. Raises UsageError."""
    if several.interfaces is None:
        return {}
    others = {
        "--interface": reach.interface,
        "--source-address": reach.source_address,
        "--address": reach.address,
        "--profile-tool": tool.tool,
        "--accept-history": search.accept_history,
    }
    _check_exclusive("--interfaces", others)
    try:
        return {"interfaces": parse_interfaces(several.interfaces)}
    except ValueError as error:
        raise UsageError(f"--interfaces: {error}") from None


def _check_exclusive(option: str, others: dict[str, Any]) -> None:
    """Raises UsageError if one of the others was given too."""
    if clash := [name for name, given in others.items() if given]:
        raise UsageError(f"{option} and {clash[0]} exclude each other")


def with_found_tool(options: ToolOptions, data: DataOptions, reach: dict[str, Any]) -> ToolOptions:
    """The options with the name of the first tool that can be used, in place of FOUND_TOOL.

    It is installed here, and where there are several, its server is asked. `reach`: the fields of a
    request on the destination. Raises UsageError where there is none.
    """
    from advisor import registry
    from advisor.runtime.tool_lookups import first_usable
    from advisor.traits import tool_traits, tools_to_profile

    if options.tool != FOUND_TOOL:
        return options
    request = ConnectionOptions(**reach, server_url=known_server(data.server, None))
    try:
        names = tools_to_profile(
            several=data.data is not None and data.data.is_dir(),
            server=request.server_url,
            without_agent=options.without_agent,
        )
    except registry.PluginMissing as error:
        raise UsageError.about(f"--profile-tool {FOUND_TOOL}", error) from None
    name: str | None = names[0]
    refused: dict[str, str] = {}
    # A lab is entered later. Of one alone the session says what is wrong.
    if len(names) > 1 and not request.destination.lab_host:
        source = str(data.data.absolute()) if data.data else None
        name = asyncio.run(first_usable(names, request, data.to, source, refused.__setitem__))
    if name is None:
        whys = "; ".join(f"{one}: {why}" for one, why in refused.items())
        raise UsageError(
            f"no tool that is installed here can be used for {request.destination_host}. {whys}"
        )
    for one, why in refused.items():
        say(f"advisor: {one} is installed here, but {why}", err=True)
    where = "fetches from here" if tool_traits(name).fetches else "is installed here"
    say(f"advisor: profiles {name}, which {where}", err=True)
    return msgspec.structs.replace(options, tool=name)


def check_without_agent(options: ToolOptions, reach: DataReachOptions, where: Endpoint) -> None:
    """Check --without-agent against what needs an agent, or is about one. Raises UsageError."""
    from advisor.traits import tools_without_agent

    if not options.without_agent or not options.tool:
        return
    others = {
        "--agent": reach.agent,
        "--agent-command": reach.agent_command,
        "--push": reach.push,
        "--ports": reach.ports,
        "--keep": options.keep,
    }
    _check_exclusive("--without-agent", others)
    if where.host == LOCALHOST:
        raise UsageError("--without-agent is for another host", remedy="leave it out for localhost")
    able = tools_without_agent()
    if options.tool not in able:
        raise UsageError(
            f"--without-agent: {options.tool} does not look after its files at the server itself",
            remedy=f"choose --profile-tool {' or '.join(able)}",
        )


_OWN_OPTIONS: Final = {
    "C": "--gain-ratio (-C)",
    "L": "--impeded (-L)",
    "N": "--iterations (-N)",
}
_OF_THE_NETWORK: Final = {
    "transports": "--transports",
    "congestion": "--congestion",
    "tools": "--for-tool",
    "buffer_scale": "--buffer-scale",
}


def check_tool(context: typer.Context, options: ToolOptions, data: DataOptions) -> None:
    """Check the options about files. Raises UsageError."""
    from advisor import registry

    if not options.tool:
        for name in ("keep", "verify", "without_agent"):
            if getattr(options, name):
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} needs --profile-tool: it is about the files it moves")
        return
    try:
        if options.tool != FOUND_TOOL:
            registry.transfer_tool(options.tool)
    except registry.PluginMissing as error:
        raise UsageError.about("--profile-tool", error) from None
    if not data.data or not data.to:
        raise UsageError(
            "--profile-tool moves part of your files",
            remedy="say which with --data, and where they go with --to",
        )
    for name, option in _OF_THE_NETWORK.items():
        if is_typed(context, name):
            raise UsageError(
                f"{option} is about the network alone", remedy="leave it out of --profile-tool"
            )


def _check_budget(budget_s: float | None) -> None:
    if budget_s is not None and budget_s < SHORTEST_S:
        raise UsageError(
            f"--budget {format_duration(budget_s)} is too short for one probe",
            remedy=f"give at least {SHORTEST_S:g} s",
        )


def _constants(method: str, options: SearchOptions) -> dict[str, float]:
    """The constants that were set, checked against the method's bounds. Raises UsageError."""
    from advisor import registry

    try:
        known = {c.name: c for c in registry.usable_method(method).constants}
    except registry.PluginMissing as error:
        raise UsageError.about("--method", error) from None
    named = {"C": options.C, "L": options.L, "N": options.N}
    own = {name: value for name, value in named.items() if value is not None}
    given = dict(options.constant or ()) | own
    for name, value in given.items():
        option = _OWN_OPTIONS[name] if name in own else f"--constant {name}"
        if name not in known:
            raise UsageError(
                f"{option} is not an option of the method '{method}'",
                remedy=f"its constants are {', '.join(known)}" if known else "",
            )
        if reason := known[name].why_not(value):
            raise UsageError(f"{option}: {reason}")
    return given


def _known_transports(names: p.Names) -> list[str]:
    from advisor import registry

    for name in names:
        try:
            registry.transport(name)
        except registry.PluginMissing as error:
            raise UsageError.about("--transports", error) from None
    return names


def _known_tools(names: p.Names) -> list[str]:
    from advisor import registry

    for name in names:
        try:
            registry.tool(name)
        except registry.PluginMissing as error:
            raise UsageError.about("--for-tool", error) from None
    return names


def known_server(text: str | None, tool: str | None) -> str | None:
    """The server that was named, in a form that the tool takes. Raises UsageError."""
    from advisor.traits import checked_server

    try:
        return checked_server(text, [tool] if tool else []) if text else None
    except ValueError as error:
        raise UsageError(f"--server {error}") from None


def _dataset(options: DataOptions) -> Dataset | None:
    if options.data and options.size:
        raise UsageError("--data and --size exclude each other: --data says the size itself")
    if options.size:
        return Dataset(total_bytes=options.size)
    if not options.data:
        return None
    return scanned_dataset(options.data)


def scanned_dataset(data: Path) -> Dataset:
    """The files below `data`, with a line on those that cannot be read. Raises UsageError."""
    try:
        found = scan(data)
    except (OSError, ValueError) as error:
        raise UsageError.about(f"--data {data}", error) from None
    if found.unreadable:
        say(
            f"advisor: --data: {found.unreadable} files or directories cannot be read and are not "
            "counted: a transfer as you would stop at them",
            err=True,
        )
    return found
