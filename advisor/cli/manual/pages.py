"""The pages of the manual, which ship with the program, and the page of each command."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

INDEX: Final = "index"
"""The page that lists the others."""

_OTHERWISE_NAMED: Final[Mapping[str, str]] = {
    "advise": "advice",
    "resume": "advice",
    "share": "shares",
    "path": "agent",
    "profile": "profiles",
    "store": "shared-history",
    "node": "nodes",
    "config": "configuration",
    "completion": "commands",
    "demo": "screens",
    "doctor": "security",
    "help": INDEX,
}
"""Pages of commands that do not have the name of their command."""


def pages() -> dict[str, Path]:
    """Each page by its topic, which is its name without `.md`; empty if they are missing."""
    package = Path(__file__).parents[2]
    # Inside the package when installed, next to it in a checkout.
    places = (package / "docs", package.parent / "docs")
    folder = next((place for place in places if (place / f"{INDEX}.md").is_file()), None)
    if folder is None:
        return {}
    found = [*folder.glob("*.md"), *folder.glob("reference/*.md")]
    return {page.stem: page for page in sorted(found)}


def topic_of(command: Sequence[str]) -> str:
    """The topic of a command's page. `command`: what is typed after `advisor`."""
    first = command[0] if command else INDEX
    return _OTHERWISE_NAMED.get(first, first)


def manual_line(command: Sequence[str]) -> str:
    """Where the manual says more about a command."""
    topic = topic_of(command)
    return "Manual: advisor help" if topic == INDEX else f"Manual: advisor help {topic}"
