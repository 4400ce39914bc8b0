"""`advisor profile measure` and `resume`."""

import asyncio
import secrets
import sys
import time
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.advise.options import DataOptions, SearchOptions
from advisor.cli.advise.request import known_server, scanned_dataset
from advisor.cli.commands import command, option_of
from advisor.cli.completion import transfer_tools
from advisor.cli.connection import DataReachOptions, DestinationArgument
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.lookup import store_errors
from advisor.cli.lab_source import on_lab
from advisor.cli.options import (
    FILES,
    EventsAsJson,
    OrdersOption,
    ServerOption,
    StoreOption,
    ToOption,
    max_concurrency_option,
    seed_option,
)
from advisor.cli.profile.axes import parse_axis
from advisor.cli.profile.lookup import resolve_profile
from advisor.cli.signals import with_signals
from advisor.domain import events as ev
from advisor.domain.records import ProfileRecord
from advisor.report import ndjson
from advisor.report.narration import Narration
from advisor.report.output import say
from advisor.runtime.connect import pair_of
from advisor.runtime.control import Control
from advisor.runtime.exit_codes import EXIT_DONE
from advisor.runtime.request import AxisValues, ProfileRequest
from advisor.runtime.session_id import new_session_id
from advisor.store.history import Store
from advisor.store.identity import record_digest
from advisor.store.profiles import StoredProfile, named, profile_name, stored_profiles

_GRID: Final = "Grid"


@command()
def measure(
    reach: DataReachOptions,
    *,
    store: StoreOption,
    destination: DestinationArgument = None,
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="the destination and the time",
            help="The name of the profile.",
        ),
    ] = "",
    about: Annotated[
        str, typer.Option("--about", metavar="TEXT", help="A remark to keep with it.")
    ] = "",
    axes: Annotated[
        list[AxisValues] | None,
        typer.Option(
            "--set",
            parser=p.parsed(parse_axis),
            metavar="PARAMETER=VALUES",
            help="The values of a parameter, as in streams=1,4,16, buffer=auto,4MiB or "
            "block=8KiB..1MiB:5; TRANSPORT.buffer=… is for one of them. Can be repeated.",
            rich_help_panel=_GRID,
        ),
    ] = None,
    points: Annotated[
        int,
        p.whole(
            "--points",
            low=2,
            high=256,
            help="Values of every other parameter, spread over its range.",
            rich_help_panel=_GRID,
        ),
    ] = 4,
    repeats: Annotated[
        int,
        p.whole(
            "--repeats",
            low=1,
            high=1000,
            help="Measurements of every setting.",
            rich_help_panel=_GRID,
        ),
    ] = 5,
    transports: Annotated[p.Names | None, option_of(SearchOptions, "transports")] = None,
    congestion: Annotated[p.Names | None, option_of(SearchOptions, "congestion")] = None,
    max_streams: Annotated[
        int,
        p.whole(
            "--max-streams",
            low=1,
            high=128,
            help="Most parallel streams, where --set names none.",
            rich_help_panel=_GRID,
        ),
    ] = 16,
    tool: Annotated[
        str | None,
        typer.Option(
            "--profile-tool",
            metavar="NAME",
            autocompletion=transfer_tools,
            help="Measure this tool from disk to disk with part of --data.",
            rich_help_panel=FILES,
        ),
    ] = None,
    data: Annotated[Path | None, option_of(DataOptions, "data")] = None,
    to: ToOption = None,
    server: ServerOption = None,
    max_concurrency: Annotated[int, max_concurrency_option(panel=FILES)] = 16,
    seed: Annotated[int | None, seed_option(show_default="another one each time")] = None,
    from_history: Annotated[
        bool,
        typer.Option(
            "--from-history",
            help="Measure nothing: make a profile of what is stored for DESTINATION.",
        ),
    ] = False,
    as_json: EventsAsJson = False,
    orders: OrdersOption = False,
) -> int:
    """Measure every setting of a grid on the path to DESTINATION, in random order.

    How long it takes at most is said first. Ctrl-C keeps what was measured; 'advisor profile
    resume' continues. The measurements are part of the history, as those of any session.
    """
    from advisor.traits import default_transports

    if tool and (not data or not to):
        raise UsageError(
            "--profile-tool moves part of your files",
            remedy="say which with --data, and where they go with --to",
        )
    for text, option in ((name, "--name"), (about, "--about")):
        _require_shown(text, option)
    request = ProfileRequest(
        **reach.request_fields(destination),
        name=name,
        about=about,
        transports=transports or default_transports(),
        congestion=congestion or [],
        axes=axes or [],
        points=points,
        repeats=repeats,
        max_streams=max_streams,
        max_concurrency=max_concurrency,
        seed=secrets.randbelow(2**32) if seed is None else seed,
        tool=tool,
        dataset=scanned_dataset(data) if data else None,
        destination_path=to,
        server_url=known_server(server, tool),
    )
    if name and named(stored_profiles(store), name):
        raise UsageError(f"--name {name}: there is a profile of this name", remedy="give another")
    if from_history:
        return _make_from_history(request, store)
    return run_profile(request, store, as_json=as_json, orders=orders)


def _require_shown(text: str, option: str) -> None:
    if len(text) > 255 or not text.isprintable():
        raise UsageError(f"{option}: at most 255 characters that can be shown, on one line")


@command()
def resume(
    profile: Annotated[
        str | None,
        typer.Argument(
            metavar="PROFILE", show_default="the newest unfinished one", help="Its name."
        ),
    ] = None,
    *,
    store: StoreOption,
    as_json: EventsAsJson = False,
    orders: OrdersOption = False,
) -> int:
    """Continue a profile that was interrupted, in the order in which it began."""
    with store_errors():
        found = resolve_profile(store, profile) if profile else _newest_unfinished(store)
    if found is None or not found.left:
        raise UsageError("there is no unfinished profile", remedy="begin one: advisor profile HOST")
    if not found.record.request or found.shipped:
        raise UsageError(
            f"'{found.record.name}' was measured elsewhere", remedy="begin one of your own"
        )
    try:
        request = msgspec.convert(found.record.request, ProfileRequest)
    except msgspec.ValidationError:
        raise UsageError(
            f"'{found.record.name}' was begun by another version", remedy="begin a new one"
        ) from None
    return run_profile(request, store, as_json=as_json, orders=orders, interrupted=found)


def _newest_unfinished(store: Store) -> StoredProfile | None:
    own = (one for one in stored_profiles(store) if one.record.request and not one.shipped)
    return next((one for one in own if one.left), None)


def run_profile(
    request: ProfileRequest,
    store: Store,
    *,
    as_json: bool,
    orders: bool,
    interrupted: StoredProfile | None = None,
) -> int:
    """Measure, and print the events or the progress; returns the exit code."""
    from advisor.profiling.session import measure_profile

    request = on_lab(request)
    control = Control()
    with Narration(sys.stderr, bar=False if as_json else None) as narration:
        data = ndjson.writer(sys.stdout) if as_json else _as_text

        def publish(event: ev.AnyEvent) -> None:
            narration(event)
            if isinstance(event, ev.ProfileEnded | ev.GaveUp):
                narration.finish()
            data(event)

        async def session() -> int:
            return await measure_profile(
                request, store=store, publish=publish, control=control, interrupted=interrupted
            )

        return asyncio.run(
            with_signals(session, control, publish, orders=orders, stopping="stopping")
        )


def _as_text(event: ev.AnyEvent) -> None:
    if isinstance(event, ev.ProfileEnded):
        failed = f", {event.failed} failed" if event.failed else ""
        say(f"{event.name}: {event.measured} measured{failed}: {event.message}")
        if event.measured:
            say(f"See them with: advisor profile show {event.name}")


def _make_from_history(request: ProfileRequest, store: Store) -> int:
    """Store a profile of the probes that count for a pair."""
    pair = pair_of(request)
    with store_errors():
        probes = [one for one in store.prior(pair) if one.pair == pair]
        if not probes:
            raise CommandFailed(
                f"nothing is stored for {pair}", remedy="measure it: advisor profile HOST"
            )
        session = new_session_id()
        record = ProfileRecord(
            session=session,
            pair=pair,
            recorded_s=time.time(),
            name=request.name or profile_name(pair.destination, session),
            members=[record_digest(one) for one in probes],
            about=request.about,
        )
        store.append(record)
    say(f"{record.name}: made of {len(probes)} stored probes")
    say(f"See them with: advisor profile show {record.name}")
    return EXIT_DONE
