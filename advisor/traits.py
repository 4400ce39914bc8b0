"""The traits of plugins by name, and the choices that follow from them.

An unknown name, as in the history of another host, has the default traits.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from advisor import registry
from advisor.api.server_files import ServerFilesTool
from advisor.domain.space import FLOW_NAMES, SettingValue, setting_words
from advisor.domain.traits import (
    USUAL_GAUGES,
    GaugeLabel,
    MethodTraits,
    ProbeLabel,
    ToolTraits,
    Traits,
    TransportTraits,
    Use,
)

_T = TypeVar("_T", bound=Traits)


def _traits(plugin: Any, kind: type[_T]) -> _T:
    own = getattr(plugin, "traits", None)
    return own if isinstance(own, kind) else kind()


def method_traits(name: str) -> MethodTraits:
    """The traits of the method of that name."""
    try:
        return _traits(registry.method(name), MethodTraits)
    except registry.PluginMissing:
        return MethodTraits()


def transport_traits(name: str) -> TransportTraits:
    """The traits of the transport of that name."""
    try:
        return _traits(registry.transport(name), TransportTraits)
    except registry.PluginMissing:
        return TransportTraits()


def tool_traits(name: str) -> ToolTraits:
    """The traits of the tool of that name."""
    try:
        return _traits(registry.tool(name), ToolTraits)
    except registry.PluginMissing:
        return ToolTraits()


def methods() -> list[str]:
    """All methods by name, those that a form lists first at the front."""
    return sorted(
        (m.name for m in registry.methods()), key=lambda name: method_traits(name).form_rank
    )


def transports() -> list[str]:
    """All transports by name, the cheapest first."""
    return sorted(
        (t.name for t in registry.transports()), key=lambda name: transport_traits(name).cost_rank
    )


def tools() -> list[str]:
    """All tools by name, in the order of their ranks."""
    return sorted((t.name for t in registry.tools()), key=lambda name: tool_traits(name).rank)


def default_method(use: Use) -> str:
    """The default method for a use. Raises PluginMissing if no plugin claims the use."""
    for name in methods():
        if use in method_traits(name).default_for:
            return name
    raise registry.PluginMissing(
        f"no method is the default for '{use}'", remedy="name one with --method"
    )


def default_transports() -> list[str]:
    """The transports that are profiled by default."""
    return [name for name in transports() if transport_traits(name).is_default]


def default_tools() -> list[str]:
    """The tools that command lines are written for by default."""
    return [name for name in tools() if tool_traits(name).is_default]


@cache
def reference_transport() -> str:
    """The cheapest transport."""
    return next(iter(transports()), "")


@cache
def flow_names() -> frozenset[str]:
    """Parameters that count flows: those of any plugin, and those that transports name."""
    own = {transport_traits(name).flow_parameter for name in transports()}
    return FLOW_NAMES | (own - {""})


def transport_labels() -> dict[str, str]:
    """The label of each transport, by its name."""
    return {name: subject_name(name) for name in transports()}


def profiled_tools() -> list[str]:
    """The tools that can be profiled, in the order of their ranks."""
    return [name for name in tools() if registry.is_transfer_tool(name)]


def tools_without_agent() -> list[str]:
    """Those that need no agent at the destination, as they look after their files there."""
    return [n for n in profiled_tools() if isinstance(registry.tool(n), ServerFilesTool)]


def tools_to_profile(
    *, several: bool, server: str | None = None, without_agent: bool = False
) -> list[str]:
    """The tools that are installed here and can be profiled, in the order of their ranks.

    One that fetches need not be installed here, and is among them only with its server. `several`:
    with more than a file. `server`: with the server that was named. Raises PluginMissing where
    there is none.
    """
    fit = tools_without_agent() if without_agent else profiled_tools()
    fetching = {name for name in fit if tool_traits(name).fetches}
    fit = [n for n in fit if (takes_server(n, server) if server else n not in fetching)]
    fit = [name for name in fit if not several or registry.transfer_tool(name).moves_several]
    usable = {*registry.installed_tools(), *fetching}
    if found := [name for name in fit if name in usable]:
        return found
    if not fit:
        way = " without an agent" if without_agent else ""
        raise registry.PluginMissing(f"no tool can be profiled with {server}{way}")
    raise registry.PluginMissing(
        f"none of {', '.join(fit)} is installed here",
        remedy="install one: 'advisor doctor' says how",
    )


def tool_to_profile(
    *, several: bool, server: str | None = None, without_agent: bool = False
) -> str:
    """The first of them, whether it can be used or not. Raises PluginMissing without one."""
    return tools_to_profile(several=several, server=server, without_agent=without_agent)[0]


def moving_tool() -> str:
    """The tool that `transfer`, `plan` and `share` run. Raises PluginMissing without one."""
    for name in profiled_tools():
        if tool_traits(name).moves_ranges:
            return name
    raise registry.PluginMissing("no tool can move ranges of files", remedy="see 'advisor plugins'")


def takes_server(tool: str, url: str) -> bool:
    """Whether a server may be named like this for the tool of that name."""
    pattern = tool_traits(tool).server_pattern
    return bool(pattern and re.fullmatch(pattern, url))


def server_forms(names: Iterable[str] = ()) -> list[str]:
    """How a server is named for each of these tools that has one; by default for any tool."""
    return [form for name in names or tools() if (form := tool_traits(name).server_form)]


def checked_server(text: str, names: Iterable[str] = ()) -> str:
    """The server that `--server` names, without a trailing slash.

    `names`: the tools that it may be for; by default any. Raises ValueError where it is for none.
    """
    url = text.strip().rstrip("/")
    among = list(names) or tools()
    if any(takes_server(name, url) for name in among):
        return url
    if not (forms := server_forms(among)):
        raise ValueError(f"'{text}': {' and '.join(among)} cannot be given a server")
    if "://" not in url:
        raise ValueError(
            f"'{text}' has no scheme, as in {forms[0].split()[0]}; see `advisor help tools`"
        )
    raise ValueError(f"'{text}' is no server for it: write {'; or '.join(forms)}")


def can_move(tool: str) -> bool:
    """Whether `advisor transfer` can run the tool of that name."""
    own = tool_traits(tool)
    takes_lists = own.moves_ranges or (own.whole_files and not own.fetches)
    return registry.is_transfer_tool(tool) and takes_lists


def movers() -> list[str]:
    """The names of the tools that `advisor transfer` can run."""
    return [name for name in tools() if can_move(name)]


def check_mover(tool: str) -> None:
    """Raises PluginMissing for a tool that is not known, or that transfers cannot run."""
    if not can_move(tool):
        raise registry.PluginMissing(
            f"{tool} cannot be run by a transfer", remedy=f"choose {', '.join(movers())}"
        )


@cache
def imported_subject(format_name: str) -> str:
    """The subject that an imported format has measured. Raises PluginMissing."""
    for names, traits_of in ((transports(), transport_traits), (tools(), tool_traits)):
        for name in names:
            if format_name in traits_of(name).imported_from:
                return name
    raise registry.PluginMissing(f"no plugin reads measurements of the format '{format_name}'")


def gauge_label(method: str, gauge: str) -> GaugeLabel:
    """The label of a gauge of that method; by default its own name."""
    labels = {**USUAL_GAUGES, **method_traits(method).gauge_labels}
    return labels.get(gauge, GaugeLabel(words=gauge))


def probe_labels() -> dict[str, ProbeLabel]:
    """The labels of all methods by their names."""
    return {label.name: label for name in methods() for label in method_traits(name).probe_labels}


def subject_name(subject: str) -> str:
    """The name of a subject in texts: a transport's label, or the name of a tool or a disk."""
    return transport_traits(subject).label or subject


def describe(subject: str, setting: Mapping[str, SettingValue]) -> str:
    """Subject and setting in words: `TCP, 8 streams, 4 MiB buffers, cubic`."""
    return f"{subject_name(subject)}, {setting_words(setting)}"
