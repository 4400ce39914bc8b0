"""`advisor lab profile`: throughput against the round-trip time, measured on emulated paths."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, NewType

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.lab.lifecycle import NewPathOptions
from advisor.cli.lab.options import NAME, changes_of
from advisor.cli.lab.orders import lab_errors
from advisor.cli.lab.rtt_runs import (
    ProfileRun,
    measure_in_turn,
    memory_folders,
    profiles_by_name,
)
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.cli.profile.rtt import show_rtt_profile
from advisor.lab import catalogue
from advisor.lab.lifecycle import Plan, bring_up, take_down
from advisor.lab.paths import EmulatedPath, changed, parse_time
from advisor.report.plotting import CannotPlot, check_plot
from advisor.report.rtt_profile import places_of, rtt_profile
from advisor.runtime.exit_codes import EXIT_DONE
from advisor.traits import reference_transport, tool_traits

_FLOWS: Final = "1,4,10"
_POINTS: Final = "2"
"""Of parameters that are not named: the ends of their range."""
_PAPERS_RTTS: Final = "0.4ms,11.6ms,22.6ms,45.6ms,91.6ms,183ms,366ms"
_MOST_RTTS: Final = 32


_Rtts = NewType("_Rtts", list[float])


def _rtts(text: str) -> list[float]:
    """Round-trip times in seconds, ascending. Raises ValueError."""
    found = sorted({parse_time(one.strip()) for one in text.split(",")})
    if len(found) > _MOST_RTTS or found[0] <= 0:
        raise ValueError(f"give 1 to {_MOST_RTTS} times above zero, as in 11.6ms,45.6ms")
    return found


@command()
@lab_errors
def profile(
    path: NewPathOptions,
    *,
    store: StoreOption,
    name: Annotated[
        str,
        typer.Option(
            "--name", **NAME, help="The name of the lab, and what the names of profiles begin with."
        ),
    ] = "rtts",
    rtts: Annotated[
        _Rtts | None,
        typer.Option(
            "--rtts",
            parser=p.parsed(_rtts),
            metavar="RTT,…",
            show_default=_PAPERS_RTTS,
            help="The round-trip times; those of Rao et al. 2016 by default.",
        ),
    ] = None,
    repeats: Annotated[
        int, p.whole("--repeats", low=1, high=1000, help="Measurements of every setting.")
    ] = 10,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PARAMETER=VALUES",
            show_default="1, 4 and 10 streams with the kernel's own buffers",
            help="The values of a parameter, as of 'advisor profile'. Can be repeated.",
        ),
    ] = None,
    congestion: Annotated[
        str | None,
        typer.Option("--congestion", metavar="NAME,…", help="As of 'advisor profile'."),
    ] = None,
    transports: Annotated[
        str | None,
        typer.Option("--transports", metavar="NAME,…", help="As of 'advisor profile'."),
    ] = None,
    tools: Annotated[
        p.Names | None,
        typer.Option(
            "--tools",
            **p.NAMES,
            help="Tools of 'advisor plugins' to measure as well, from memory to memory.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Plot it to a .svg, .png or .pdf. Needs matplotlib."
        ),
    ] = None,
    as_json: ResultAsJson = False,
) -> int:
    """Measure throughput against the round-trip time on emulated paths, and keep the profiles.

    \b
    advisor lab profile --rtts 0.4ms,45.6ms,183ms --repeats 5 --plot rtts.svg

    A lab with a path for each RTT is up meanwhile. Interrupted, the same command resumes. 'advisor
    profile rtt' shows the same for the destinations of your history.
    """
    if path.rtt_s is not None:
        raise UsageError("--rtt is that of one path", remedy="give --rtts")
    if plot:
        try:
            check_plot(plot)
        except CannotPlot as error:
            raise UsageError.about("--plot", error) from None
    grid = _grid_words(settings or _default_settings(), repeats)
    search = ["--congestion", congestion] if congestion else []
    search += ["--transports", transports] if transports else []
    rtts_s = rtts or _rtts(_PAPERS_RTTS)
    with _lab(name, path, rtts_s) as hosts, contextlib.ExitStack() as files:
        # The RTT is the emulated one: measured on a busy machine it would be another each time.
        where = {
            host: [f"lab:{name}:{host}", "--rtt", f"{rtt_s * 1000:g}ms"]
            for host, rtt_s in zip(hosts, rtts_s, strict=True)
        }
        runs = [
            ProfileRun(name=f"{name}-{host}", words=[*where[host], *grid, *search])
            for host in hosts
        ]
        for host in hosts if tools else []:
            source, target = files.enter_context(memory_folders(name, host))
            to_memory = ["--data", source, "--to", target]
            runs += [
                ProfileRun(
                    name=f"{name}-{host}-{tool}",
                    words=[*where[host], *_tool_words(tool, repeats), *to_memory],
                )
                for tool in tools or []
            ]
        status = measure_in_turn(runs, store)
    if status == EXIT_DONE:
        stored = profiles_by_name(store)
        show_rtt_profile(
            rtt_profile(places_of(stored[run.name] for run in runs)), plot, as_json=as_json
        )
    return status


def _default_settings() -> list[str]:
    """Autotuned streams, as the paper profiles them; other transports over their own range."""
    return [f"{reference_transport()}.{one}" for one in (f"streams={_FLOWS}", "buffer=auto")]


def _grid_words(settings: Sequence[str], repeats: int) -> list[str]:
    axes = [word for setting in settings for word in ("--set", setting)]
    return [*axes, "--points", _POINTS, "--repeats", str(repeats)]


def _tool_words(tool: str, repeats: int) -> list[str]:
    """One file, by the number of its streams."""
    streams = f"{tool_traits(tool).stream_parameter}={_FLOWS}"
    return ["--profile-tool", tool, *_grid_words([streams], repeats)]


@contextlib.contextmanager
def _lab(name: str, options: NewPathOptions, rtts_s: Sequence[float]) -> Iterator[list[str]]:
    """A lab with a path for each RTT, up inside the block; yields its hosts. Raises LabError."""
    changes = changes_of(options)
    common = catalogue.find(options.path_name) if options.path_name else EmulatedPath()
    paths = {
        _host_name(rtt_s): changed(common, msgspec.structs.replace(changes, rtt_s=rtt_s))
        for rtt_s in rtts_s
    }
    bring_up(name, Plan(hosts=paths))
    try:
        yield list(paths)
    finally:
        take_down(name)


def _host_name(rtt_s: float) -> str:
    """A name of a host for an RTT: `rtt-45-6ms`."""
    return f"rtt-{rtt_s * 1000:g}ms".replace(".", "-")
