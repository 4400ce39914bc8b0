"""From a sentence that says what is wrong to the one command in it that mends it. Pure."""

import re
from typing import Final, NamedTuple

_PROGRAMS: Final = r"(?:advisor|apt-get|chmod|ssh|ssh-copy-id|sudo)"
# The surest first: what mends, then what shows more.
_PATTERNS: Final = (
    re.compile(r"\b(ssh-copy-id [^\s,)]+)"),
    re.compile(rf": ({_PROGRAMS} [^:]+)$"),
    re.compile(rf"'({_PROGRAMS}(?: [^']*)?)'"),
)
_NO_AGENT: Final = re.compile(r"there is no '.*' on (\S+): install advisor there")
_SILENT: Final = re.compile(r"the connection to (\S+) failed: ")
_LISTEN: Final = re.compile(r"(\S+):(\d+) cannot be reached .*'advisor agent --listen'")


class Fix(NamedTuple):
    """A line to copy, and where it is to be run."""

    line: str
    where: str = "run here"


def fix_for(message: str) -> Fix | None:
    """The command, or None where the sentence names none."""
    if found := _NO_AGENT.search(message):
        return Fix("make install", f"on {found[1]}, in advisor's sources")
    if found := _LISTEN.search(message):
        return Fix(f"advisor agent --listen 0.0.0.0:{found[2]}", f"on {found[1]}")
    if found := _SILENT.search(message):
        return Fix(f"ssh -v {found[1]} true")
    for pattern in _PATTERNS:
        if found := pattern.search(message):
            return Fix(found[1].strip())
    return None
