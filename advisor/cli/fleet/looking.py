"""`advisor fleet status`, `matrix` and `show`: how a fleet stands."""

from typing import Annotated, Final

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.fleet.database import database
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.fleet.plan.fleet import Fleet
from advisor.report.output import say, say_json

_READER: Final = "advisor_reader"


@command()
def status(
    store: StoreOption,
    *,
    configuration: Annotated[
        bool,
        typer.Option("--configuration", help="Print the configuration that is in force instead."),
    ] = False,
    as_json: ResultAsJson = False,
) -> int:
    """Show who works, what runs, which hosts are down or left alone, and what is missing.

    Every pair that was never measured is named with its reason.
    """
    with database(store, _READER) as connection:
        from advisor.fleet.state import reading

        if configuration:
            say(reading.applied(connection).configuration.content.rstrip("\n"))
            return 0
        state = reading.fleet_state(connection)
        workers = reading.workers(connection, state.now_s)
    from advisor.fleet.state.standing import pairs_of, standing_of
    from advisor.report.fleet_status import print_standing, standing_data

    found = standing_of(state, workers, list(pairs_of(state)))
    if as_json:
        say_json(msgspec.json.encode(standing_data(found)))
    else:
        print_standing(found)
    return 0


def _task(fleet: Fleet, wanted: str | None) -> str:
    """The name of a task; the first one with a throughput without a wish. Raises UsageError."""
    names = [task.name for task in fleet.tasks]
    if wanted is None:
        return next((one.name for one in fleet.tasks if one.what != "path"), names[0])
    if wanted not in names:
        raise UsageError(
            f"--measure: there is no '{wanted}' in the fleet", remedy=f"give {', '.join(names)}"
        )
    return wanted


@command()
def matrix(
    store: StoreOption,
    *,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            show_default="the first with a throughput",
            help="The table [measure.NAME] of the fleet.",
        ),
    ] = None,
    ages: Annotated[
        bool, typer.Option("--age", help="How long ago each was measured, instead.")
    ] = False,
    as_json: ResultAsJson = False,
) -> int:
    """Show every pair as a table: from the host of a row to that of a column.

    With the throughput of the last measurement, or the round-trip time where that is all.
    """
    with database(store, _READER) as connection:
        from advisor.fleet.state import reading

        state = reading.fleet_state(connection)
    from advisor.fleet.state.standing import pairs_of
    from advisor.report.fleet_status import pair_data, print_matrix

    name = _task(state.applied.fleet, measure)
    pairs = [one for one in pairs_of(state) if one.task == name]
    if as_json:
        data = {"measure": name, "now_s": state.now_s, "pairs": list(map(pair_data, pairs))}
        say_json(msgspec.json.encode(data))
    else:
        print_matrix(pairs, state.now_s, ages=ages)
    return 0


@command()
def show(
    store: StoreOption,
    *,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A host by its name there.")],
    destination: Annotated[str, typer.Argument(metavar="DESTINATION", help="Another one.")],
    attempts: Annotated[
        int, p.whole("--attempts", low=1, high=10_000, help="How many attempts to list.")
    ] = 20,
    as_json: ResultAsJson = False,
) -> int:
    """Show a pair: what it reached, when it is due, why it is not measured, and its attempts.

    'advisor history show' has the measurements themselves.
    """
    with database(store, _READER) as connection:
        from advisor.fleet.state import reading
        from advisor.fleet.state.standing import pairs_of

        state = reading.fleet_state(connection)
        ends = source, destination
        pairs = [one for one in pairs_of(state) if (one.source, one.destination) == ends]
        if not pairs:
            raise UsageError(
                f"the fleet does not measure from '{source}' to '{destination}'",
                remedy="`advisor fleet matrix` shows what it measures",
            )
        lists = [reading.attempts_of(connection, one.task, *ends, attempts) for one in pairs]
    from advisor.report.fleet_status import pair_data, print_pair

    if as_json:
        data = [
            pair_data(one) | {"attempts": msgspec.to_builtins(own)}
            for one, own in zip(pairs, lists, strict=True)
        ]
        say_json(msgspec.json.encode({"now_s": state.now_s, "measures": data}))
    else:
        for one, own in zip(pairs, lists, strict=True):
            print_pair(one, own, state.now_s)
    return 0
