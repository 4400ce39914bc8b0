"""`advisor profile rtt`: throughput against the round-trip time."""

import socket
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from advisor.cli.commands import command
from advisor.cli.completion import profiles as complete_profiles
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import ResultAsJson, StoredOption
from advisor.cli.profile.lookup import resolve_profile
from advisor.report.output import say, say_json
from advisor.report.plotting import CannotPlot, check_plot
from advisor.report.rtt_profile import (
    RttProfile,
    places_of,
    places_of_history,
    rtt_boxes,
    rtt_columns,
    rtt_lines,
    rtt_profile,
    rtt_rows,
)
from advisor.report.rtt_profile_plot import write_rtt_plot
from advisor.report.tables import print_table
from advisor.store.profiles import reference_profiles


@command()
def rtt(
    profiles: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROFILE…",
            autocompletion=complete_profiles,
            show_default="all that this host measured",
            help="Profiles of paths with different RTTs.",
        ),
    ] = None,
    *,
    store: StoredOption,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference", help="The reference profiles, which were measured on emulated paths."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Plot it to a .svg, .png or .pdf. Needs matplotlib."
        ),
    ] = None,
    as_json: ResultAsJson = False,
) -> None:
    """Show what was reached at which round-trip time, by the number of flows.

    Without a PROFILE it takes the whole history of this host, each destination at its RTT;
    --reference takes the profiles that come with the program, of emulated paths. It says
    up to which RTT a curve is concave, so that long connections reach nearly what short ones do,
    and beyond which RTT one transport is above the other.
    """
    if plot:
        try:
            check_plot(plot)
        except CannotPlot as error:
            raise UsageError.about("--plot", error) from None
    if profiles and reference:
        raise UsageError("--reference is instead of PROFILE", remedy="give one of them")
    with store_errors():
        if profiles:
            places = list(places_of(resolve_profile(store, one) for one in profiles))
        elif reference:
            places = list(places_of(reference_profiles(store)))
        else:
            places = list(places_of_history(store, socket.gethostname()))
    found = rtt_profile(places)
    if not found.curves:
        raise CommandFailed(
            "nothing is stored with its round-trip time",
            remedy="measure some destinations, or a lab (`advisor lab profile`); --reference shows "
            "what was measured on emulated paths",
        )
    show_rtt_profile(found, plot, as_json=as_json)


def show_rtt_profile(found: RttProfile, plot: Path | None, *, as_json: bool) -> None:
    """Print the curves, and draw them to a file."""
    if as_json:
        say_json(msgspec.json.encode(rtt_boxes(found)))
    else:
        print_table(rtt_columns(found), rtt_rows(found))
        for line in rtt_lines(found):
            say(line)
    if plot:
        try:
            write_rtt_plot(plot, found)
        except CannotPlot as error:
            raise CommandFailed.about("--plot", error) from error
        say(f"{plot}: the curves as a figure", err=True)
