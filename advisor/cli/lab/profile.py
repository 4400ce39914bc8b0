"""`advisor lab profile`: throughput against the round-trip time, measured on emulated paths."""

from pathlib import Path
from typing import Annotated, Final, NewType

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.lab.lifecycle import NewPathOptions
from advisor.cli.lab.options import NAME
from advisor.cli.lab.orders import lab_errors
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.domain.quantities import with_unit
from advisor.lab.paths import parse_time
from advisor.report.plotting import CannotPlot, check_plot

_PAPERS_RTTS: Final = "0.4ms,11.6ms,22.6ms,45.6ms,93.6ms,183ms,366ms"
_MOST_RTTS: Final = 32


_Rtts = NewType("_Rtts", list[float])


def _rtts(text: str) -> list[float]:
    """Round-trip times in seconds, ascending. Raises ValueError."""
    read = with_unit(parse_time, "ms")
    found = sorted({read(one.strip()) for one in text.split(",")})
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
    # Imported late: every `advisor lab` command imports this module, and they start fast.
    from advisor.cli.lab.rtt_profile import AskedRtts, measure_rtts

    asked = AskedRtts(
        rtts_s=rtts or _rtts(_PAPERS_RTTS),
        repeats=repeats,
        settings=settings,
        congestion=congestion,
        transports=transports,
        tools=tools or (),
        plot=plot,
    )
    return measure_rtts(name, path, asked, store, as_json=as_json)
