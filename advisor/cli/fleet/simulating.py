"""`advisor fleet simulate`: a fleet at work for years, in minutes."""

from typing import Annotated

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.computing import DaskOption, executor_at
from advisor.cli.errors import UsageError
from advisor.cli.fleet.files import DEFAULT, FleetArgument, loaded
from advisor.cli.options import ResultAsJson, seed_option
from advisor.domain.quantities import format_duration
from advisor.fleet.plan.fleet import Fleet
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
    runs: Annotated[
        int | None,
        p.whole(
            "--runs",
            low=1,
            high=10_000,
            show_default="1",
            help="This many runs, with this seed and those after it, and what they have in common.",
        ),
    ] = None,
    dask: DaskOption = None,
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
    if runs is None and dask is None:
        return _single(fleet, duration_s, workers, seed, as_json=as_json)
    seeds = range(seed, seed + (runs or 1))
    return _several(fleet, duration_s, workers, seeds, dask, as_json=as_json)


def _single(fleet: Fleet, duration_s: float, workers: int, seed: int, *, as_json: bool) -> int:
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


def _several(
    fleet: Fleet, duration_s: float, workers: int, seeds: range, dask: str | None, *, as_json: bool
) -> int:
    from advisor.fleet.simulation.several import SIMULATING, SimulationRun, summary_of
    from advisor.report.fleet_simulation import print_summary, runs_progress

    tasks = (
        SimulationRun(fleet=fleet, duration_s=duration_s, workers=workers, seed=one)
        for one in seeds
    )
    found = []
    code = EXIT_DONE
    try:
        with executor_at(dask) as executor, runs_progress(len(seeds), wanted=not as_json) as show:
            for _, report in executor.results(SIMULATING, tasks):
                found.append(report)
                show()
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    if found:
        summary = summary_of(found)
        if as_json:
            say_json(msgspec.json.encode(summary))
        else:
            print_summary(summary)
    if code == EXIT_INTERRUPTED:
        say(f"advisor: interrupted after {len(found)} of {len(seeds)} runs", err=True)
    return code
