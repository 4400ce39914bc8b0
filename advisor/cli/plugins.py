"""`advisor plugins`: the plugins, and what is missing for those that cannot run."""

from typing import Annotated

import msgspec

from advisor.cli.commands import command
from advisor.cli.options import json_option
from advisor.domain.printable import json_text
from advisor.registry import Listed, listing, user_folder
from advisor.report.output import say


@command()
def plugins(
    *, as_json: Annotated[bool, json_option("Print a line of JSON for each.")] = False
) -> int:
    """List methods, transports and tools, their origin, and what is missing for each."""
    found = listing()
    for one in found:
        say(json_text(msgspec.json.encode(one)) if as_json else _line(one))
    if not as_json:
        say(f"\nYour own go into {user_folder()}, in methods, transports or tools.", err=True)
    return 0


def _line(one: Listed) -> str:
    state = "ok" if one.availability.ok else f"{one.availability.reason}: {one.availability.remedy}"
    return f"{one.kind:<11}{one.name:<20}{one.origin:<9}{one.summary}\n{'':<11}{state}"
