"""The tools whose command lines advice has: those that were named, else those that are there."""

import msgspec

from advisor.domain.path import PathFacts
from advisor.traits import default_tools, tool_traits, tools


class ToolLines(msgspec.Struct, frozen=True):
    """Tools by name, in the order of their lines, and a sentence that says why; "" if asked for."""

    names: list[str]
    reason: str = ""


def tool_lines(named: list[str], path: PathFacts) -> ToolLines:
    """For the tools that the user named, none for those that both hosts have.

    The usual ones where they are there, else the first other one. Where none is, or nobody looked,
    the usual ones: a line can be read before its program is installed.
    """
    if named:
        return ToolLines(named)
    usual = default_tools()
    if path.source.tools is None:
        return ToolLines(usual)
    there = [name for name in tools() if _is_there(name, path)]
    if found := [name for name in usual if name in there]:
        return ToolLines(found)
    words = " and ".join(usual)
    if there:
        return ToolLines(
            there[:1],
            f"the line is for {there[0]}, which is installed; {words} are not "
            f"(--for-tool {','.join(usual)} prints lines for them)",
        )
    return ToolLines(
        usual,
        f"no transfer tool is installed where it is needed: the lines are for {words}; "
        "'advisor doctor' says how to install them",
    )


def _is_there(name: str, path: PathFacts) -> bool:
    """Whether it is installed on each host that needs it; one that nobody looked at may have it."""
    sides = {"source": path.source.tools, "destination": path.destination.tools}
    known = (sides[side] for side in tool_traits(name).needed_at)
    return all(installed is None or name in installed for installed in known)
