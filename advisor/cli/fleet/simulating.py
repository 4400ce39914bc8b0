"""`advisor fleet simulate`: a fleet at work for years, in minutes."""

from typing import Annotated

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.fleet.files import DEFAULT, FleetArgument, loaded
from advisor.cli.options import ResultAsJson, seed_option
from advisor.domain.quantities import format_duration
from advisor.report.output import say, say_json
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED

_DAY_S = 86_400.0
_MOST_S = 20 * 365 * _DAY_S


@command()
def simulate(
    file: FleetArgument = DEFAULT,
    *,
    duration_s: Annotated[
        float, typer.Option("--duration", **p.DURATION, help="How long to simulate, as in 2y.")
    ] = 90 * _DAY_S,
    workers: Annotated[
        int, p.whole("--workers", low=1, high=10_000, help="How many measurements at a time.")
    ] = 8,
    seed: Annotated[int, seed_option()] = 1,
    as_json: ResultAsJson = False,
) -> int:
    """Run a fleet in virtual time, with the planning of real workers on a made-up network.

    Hosts go down and come back, rates vary and change, and measurements fail. It reports how long
    it takes to measure every pair, how busy the workers are, how fairly pairs and hosts are
    measured, how much traffic each host has a day, and how soon changes are noticed. Ctrl-C ends it
    with the figures so far.
    """
    fleet = loaded(file)
    if not _DAY_S <= duration_s <= _MOST_S:
        raise UsageError(
            f"--duration: {format_duration(duration_s)} cannot be simulated",
            remedy="give 1d to 20y",
        )
    from advisor.fleet.simulation.running import Simulation
    from advisor.report.fleet_simulation import print_simulation, progress

    run = Simulation(fleet, duration_s, workers, seed)
    code = EXIT_DONE
    try:
        with progress(wanted=not as_json) as show:
            for day in run.run():
                show(day)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    found = run.report()
    if as_json:
        say_json(msgspec.json.encode(found))
    else:
        print_simulation(found)
    if code == EXIT_INTERRUPTED:
        say(f"advisor: interrupted after {format_duration(found.simulated_s)} simulated", err=True)
    return code
