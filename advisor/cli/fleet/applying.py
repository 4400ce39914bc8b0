"""`advisor fleet apply`, `pause` and `resume`: what operators decide."""

from collections.abc import Set
from datetime import datetime
from typing import Annotated, Final

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.fleet.database import database
from advisor.cli.fleet.files import DEFAULT, FleetArgument, with_text
from advisor.cli.options import StoreOption
from advisor.domain.quantities import format_duration
from advisor.fleet.configuration.selecting import ALL
from advisor.fleet.plan.fleet import Fleet
from advisor.report.output import say

_OPERATOR: Final = "advisor_operator"


@command()
def apply(store: StoreOption, *, file: FleetArgument = DEFAULT) -> int:
    """Put the description of a fleet into force: workers measure by it from now on.

    It is checked as by 'advisor fleet validate', and kept in the database with a version. What was
    measured of pairs that it still has stays known. For operators.
    """
    _, content = with_text(file)
    with database(store, _OPERATOR) as connection:
        from advisor.fleet.state import changing

        version = changing.apply(connection, content)
    say(f"Version {version} is in force.")
    return 0


def _time(text: str) -> float:
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError("write a time as in 2027-01-31T06:00, of this host's zone") from None


def _names(fleet: Fleet) -> set[str]:
    return {host.name for host in fleet.hosts}


def _named(host: str, known: Set[str]) -> str:
    """The name as the database has it of a host that is known. Raises UsageError."""
    from advisor.fleet.state import rows

    if host == ALL:
        return rows.ALL
    if host not in known:
        raise UsageError(
            f"there is no host '{host}' in the fleet", remedy="see `advisor fleet status`"
        )
    return host


_HostArgument = Annotated[
    str, typer.Argument(metavar="HOST", help="A host of the fleet by its name there, or all.")
]


@command()
def pause(
    store: StoreOption,
    *,
    host: _HostArgument,
    until_s: Annotated[
        float | None,
        typer.Option(
            "--until",
            parser=p.parsed(_time),
            metavar="WHEN",
            show_default="resumed",
            help="When it ends by itself, as in 2027-01-31T06:00.",
        ),
    ] = None,
    for_s: Annotated[
        float | None,
        typer.Option("--for", **p.DURATION, help="How long it lasts, as in 2h."),
    ] = None,
) -> int:
    """Measure nothing at HOST until further notice, at 'all' in the whole fleet.

    What is being measured ends as it would: no worker begins anything new there. For operators.
    """
    if until_s is not None and for_s is not None:
        raise UsageError("--until and --for exclude each other", remedy="give one")
    with database(store, _OPERATOR) as connection:
        from advisor.fleet.state import changing, reading

        name = _named(host, _names(reading.applied(connection).fleet))
        now_s = reading.now(connection)
        if for_s is not None:
            until_s = now_s + for_s
        if until_s is not None and until_s <= now_s:
            raise UsageError("--until is over", remedy="give a time to come")
        changing.pause(connection, name, until_s)
    lasting = f"for {format_duration(until_s - now_s)}" if until_s else "until it is resumed"
    say(f"{host} is left alone {lasting}.")
    return 0


@command()
def resume(store: StoreOption, *, host: _HostArgument) -> int:
    """Measure at HOST again, at 'all' wherever it was paused. For operators.

    Also ends the pause of a host that the fleet no longer has.
    """
    with database(store, _OPERATOR) as connection:
        from advisor.fleet.state import changing, reading

        own = _names(reading.applied(connection).fleet)
        paused = reading.pauses(connection, reading.now(connection))
        name = _named(host, own | {one.host for one in paused})
        was_paused = changing.resume(connection, name)
    if not was_paused:
        say(f"{host} was not paused.")
    elif host == ALL or host in own:
        say(f"{host} is measured again.")
    else:
        say(f"{host} is no longer paused. It is not in the fleet: nothing is measured there.")
    return 0
