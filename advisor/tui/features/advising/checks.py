"""Checks of what is typed for advice: each raises ValueError with a sentence."""

from advisor.advising.budget import SHORTEST_S
from advisor.domain.names import parse_names
from advisor.domain.quantities import parse_duration
from advisor.traits import method_traits, moving_tool, tool_to_profile


def profiling_time(text: str) -> float:
    """Seconds, enough for one probe."""
    budget_s = parse_duration(text)
    if budget_s < SHORTEST_S:
        raise ValueError(f"too short for one probe: give at least {SHORTEST_S:g} s")
    return budget_s


def known_method(text: str) -> None:
    """The name of a search method."""
    from advisor import registry

    try:
        registry.usable_method(text)
    except registry.PluginMissing as error:
        raise ValueError(str(error)) from None
    if instead := method_traits(text).instead:
        raise ValueError(instead)


def known_transports(text: str) -> None:
    """Names of transports, separated by commas."""
    from advisor import registry

    try:
        for name in parse_names(text):
            registry.transport(name)
    except registry.PluginMissing as error:
        raise ValueError(str(error)) from None


def usual_tool(*, several: bool, server: str | None = None, without_agent: bool = False) -> str:
    """The tool that is tried first where none is typed: see `tool_to_profile`."""
    from advisor import registry

    try:
        return tool_to_profile(several=several, server=server, without_agent=without_agent)
    except registry.PluginMissing:
        return moving_tool()


def known_tool(text: str) -> None:
    """The name of a tool that can be profiled."""
    from advisor import registry

    try:
        registry.transfer_tool(text)
    except registry.PluginMissing as error:
        raise ValueError(str(error)) from None
