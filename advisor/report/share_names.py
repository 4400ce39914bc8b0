"""Names in the texts of shares: of destinations, and of the tool."""

import re
from collections.abc import Iterable
from typing import Final

from advisor.traits import moving_tool

_OF_A_LAB: Final = re.compile(r"(lab:[^:]+):([^:]+)")


def shown(names: Iterable[str]) -> dict[str, str]:
    """By destination: hosts of one lab by their own names, others unchanged."""
    known = list(names)
    matches = [_OF_A_LAB.fullmatch(name) for name in known]
    if len({match and match[1] for match in matches}) != 1:
        return {name: name for name in known}
    return {name: match[2] if match else name for name, match in zip(known, matches, strict=True)}


def by_tool(tool: str) -> str:
    """That this tool moves the files, as the end of a clause; "" for the usual one."""
    return "" if tool in ("", moving_tool()) else f", by {tool}"
