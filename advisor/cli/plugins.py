"""`advisor plugins`: what there is, and what is missing for the rest."""

import click
import msgspec

from advisor.registry import Listed, listing, user_folder


@click.command()
@click.option("--json", "as_json", is_flag=True, help="A line of JSON each.")
def plugins(as_json: bool) -> int:
    """List methods, transports and tools, where they come from, and what they lack."""
    found = listing()
    for one in found:
        click.echo(msgspec.json.encode(one).decode() if as_json else _line(one))
    if not as_json:
        click.echo(
            f"\nYour own go into {user_folder()}, in methods, transports or tools.", err=True
        )
    return 0


def _line(one: Listed) -> str:
    state = "ok" if one.availability.ok else f"{one.availability.reason}: {one.availability.remedy}"
    return f"{one.kind:<11}{one.name:<20}{one.origin:<9}{one.summary}\n{'':<11}{state}"
